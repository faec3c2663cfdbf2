import { getResource } from '../../resources/get-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'assets get'> = (input) => {
  const named = input.args.asset;
  return getResource(input, { kind: 'assets', named }, (client, signal) =>
    client.assets.get(named, signal),
  );
};
