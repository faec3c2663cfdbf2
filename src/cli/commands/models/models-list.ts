import type { ModelRow } from '../../../client/models.ts';
import { oneLine } from '../../../core/printable.ts';
import { priceText } from '../../output/price-text.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<ModelRow>[] = [
  { title: 'MODEL', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'PRICE USD', value: priceOf },
  { title: 'CONTEXT', value: ({ context_window }) => context_window },
  { title: 'PROTOCOLS', value: ({ protocols }) => protocols },
  { title: 'ROUTES', value: routesOf },
];

export const run: RunOf<'models list'> = async ({ flags, context }) => {
  const client = await context.connect();
  const rows = await client.models.table(
    // The empty type asks for every type; without it the catalog lists only language models.
    { type: flags.type ?? '', vendor: flags.vendor, q: flags.search },
    context.signal,
  );
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => oneLine(id)).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no models' }),
  };
};

/**
 * The model's price, else that of the first route that has one, and how many routes have none. Keys
 * that may not see routes see the model's own price.
 */
function priceOf({ type, pricing, routes }: ModelRow): string | undefined {
  const own = (routes ?? []).flatMap((route) => (route.pricing ? [route.pricing] : []));
  const texts = [pricing, ...own].map(priceText);
  const found = texts.find((text) => text !== undefined);
  const missing = own.filter((one) => priceText(one) === undefined).length;
  const isCalledAsItIs = type === 'api' || (routes === undefined && pricing !== undefined);
  if (missing === 0) return found ?? (isCalledAsItIs ? 'unpriced' : undefined);
  return found === undefined ? 'unpriced' : `${found}; ${missing} of ${own.length} unpriced`;
}

/** The providers in the order of the routes; how many they are for a key that may not see them. */
function routesOf({ routes }: ModelRow): string | number | undefined {
  if (routes === undefined || routes.length === 0) return undefined;
  const providers = routes.flatMap(({ provider }) => provider ?? []);
  return providers.length === 0 ? routes.length : providers.join(', ');
}
