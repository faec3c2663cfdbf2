import { collect } from '../../../client/http/pages.ts';
import type { WebhookDelivery } from '../../../client/webhooks.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: 'CREATED', value: ({ created_at }) => created_at },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'EVENT', value: ({ event }) => event },
  { title: 'ATTEMPTS', value: ({ attempts }) => attempts.length },
  { title: 'LAST', value: ({ attempts }) => attempts.at(-1)?.outcome },
  { title: 'URL', value: ({ url }) => url, isCut: true },
  { title: 'ID', value: ({ id }) => id, weight: 2 },
];

export const run: RunOf<'webhooks list'> = async ({ flags, context }) => {
  const limit = flags.limit;
  const client = await context.connect();
  const rows = await collect(client.webhooks.deliveries(context.signal), limit);
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => id).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no webhooks' }),
  };
};
