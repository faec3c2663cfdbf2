import { addSpending, toSpendingRows } from '../../details/spending-rows.ts';
import { getResource } from '../../resources/get-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'organizations get'> = (input) => {
  const sought = { kind: 'organizations', named: input.args.id } as const;
  return getResource(input, { ...sought, toRows: toSpendingRows }, async (client, signal) => {
    const found = await client.admin(sought.kind).get(sought.named, signal);
    return addSpending(client, found, { kind: 'organization', signal });
  });
};
