import type { ModelPricing, ModelRow } from '../../../client/models.ts';
import type { CommandRun } from '../../command.ts';
import { oneLine } from '../../../core/printable.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';

const COLUMNS: readonly Column<ModelRow>[] = [
  { title: 'MODEL', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'PRICE USD', value: priceOf },
  { title: 'CONTEXT', value: ({ context_window }) => context_window },
  { title: 'PROTOCOLS', value: ({ protocols }) => protocols },
  { title: 'ROUTES', value: routesOf },
];

export const run: CommandRun = async ({ flags, context }) => {
  const client = await context.connect();
  const rows = await client.models.table(
    // The empty type asks for every type; without it the catalog lists language models alone.
    { type: flags.text('type') ?? '', vendor: flags.text('vendor'), q: flags.text('search') },
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

/** Units in which prices are given, and the words for them. */
const UNITS = [
  ['per_call', 'a call'],
  ['per_image', 'an image'],
  ['per_second', 'a second'],
] as const;

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

/** `0.15 in, 0.60 out per million tokens`. */
function priceText(pricing: ModelPricing | undefined): string | undefined {
  if (pricing === undefined) return undefined;
  const { input = null, output = null } = pricing;
  const tokens = [
    input === null ? [] : `${input} in`,
    output === null ? [] : `${output} out`,
  ].flat();
  const units = UNITS.flatMap(([member, words]) => {
    const price = pricing[member] ?? null;
    return price === null ? [] : `${price} ${words}`;
  });
  const perMillion = tokens.length === 0 ? [] : `${tokens.join(', ')} per million tokens`;
  if (pricing['per_call'] === '0.00' && tokens.length === 0) return 'free';
  const parts = [perMillion, units].flat();
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** The providers in the order of the routes; how many they are for a key that may not see them. */
function routesOf({ routes }: ModelRow): string | number | undefined {
  if (routes === undefined || routes.length === 0) return undefined;
  const providers = routes.flatMap(({ provider }) => provider ?? []);
  return providers.length === 0 ? routes.length : providers.join(', ');
}
