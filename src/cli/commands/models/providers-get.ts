import { addHealth, healthText } from '../../details/provider-health.ts';
import { findResource } from '../../resources/find-resource.ts';
import { getResource } from '../../resources/get-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'providers get'> = (input) => {
  const sought = { kind: 'providers', named: input.args.id } as const;
  const toRows = ({ health, ...rest }: Readonly<Record<string, unknown>>) => ({
    ...rest,
    health: healthText(health),
  });
  return getResource(input, { ...sought, toRows }, async (client, signal) => {
    const found = await findResource(client, sought, signal);
    const [provider] = await addHealth(client, [found], signal);
    return { ...provider };
  });
};
