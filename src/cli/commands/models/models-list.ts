import type { ModelPricing, ModelRow, OpenProvider } from '../../../client/models.ts';
import { oneLine } from '../../../core/printable.ts';
import type { Output } from '../../output/output.ts';
import { priceText, shortPrice } from '../../output/price-text.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<ModelRow>[] = [
  { title: 'MODEL', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'USD IN/OUT PER 1M', value: (row) => priceOf(row, shortPrice) },
  { title: 'CONTEXT', value: ({ context_window }) => context_window },
  { title: 'ROUTES', value: routesOf, isCut: true },
  { title: 'PRICE USD', value: (row) => priceOf(row, priceText), weight: 0 },
  { title: 'MOST OUTPUT', value: ({ max_output_tokens: most }) => most, weight: 0 },
  { title: 'PROTOCOLS', value: ({ protocols }) => protocols, weight: 0 },
];

export const run: RunOf<'models list'> = async ({ flags, context }) => {
  const client = await context.connect();
  const { models, open } = await client.models.table(
    // The empty type asks for every type; without it the catalog lists only language models.
    { type: flags.type ?? '', vendor: flags.vendor, q: flags.search },
    context.signal,
  );
  for (const provider of open) tellOpen(provider, context.output);
  const rows = models.map((row) => ({ name: row.id, ...row }));
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => oneLine(id)).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no models' }),
  };
};

/** Names models that can be called and are not listed, with the reason. */
function tellOpen({ provider, patterns, problem, listed }: OpenProvider, output: Output): void {
  const names = patterns.map((pattern) => `${provider}/${pattern}`).join(', ');
  const callable = oneLine(`${names} can be called all the same`);
  const models = `the models of ${oneLine(provider)}`;
  if (problem) output.warn(`${models} could not be listed: ${oneLine(problem)}; ${callable}`);
  else if (listed === 0) output.note(`${models} are not listed; ${callable}`);
}

/**
 * The model's price, else that of the first route that has one, and how many routes have none. Keys
 * that may not see routes see the model's own price.
 */
function priceOf(
  { type, pricing, routes }: ModelRow,
  textOf: (pricing: ModelPricing | undefined) => string | undefined,
): string | undefined {
  const own = (routes ?? []).flatMap((route) => (route.pricing ? [route.pricing] : []));
  const texts = [pricing, ...own].map(textOf);
  const found = texts.find((text) => text !== undefined);
  const missing = own.filter((one) => textOf(one) === undefined).length;
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
