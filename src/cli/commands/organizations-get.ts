import type { CommandRun } from '../command.ts';
import { addSpending, toSpendingRows } from '../details/spending-rows.ts';
import { getResource } from '../get-resource.ts';

export const run: CommandRun = (input) =>
  getResource(
    input,
    async (client, signal) => {
      const found = await client.admin('organizations').get(input.args['id'] ?? '', signal);
      return addSpending(client, found, { kind: 'organization', signal });
    },
    toSpendingRows,
  );
