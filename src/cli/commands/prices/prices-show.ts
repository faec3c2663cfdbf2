import { priceListText } from '../../output/price-list-text.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'prices show'> = async ({ context }) => {
  const client = await context.connect();
  const view = await client.operators.prices(context.signal);
  return { data: view, text: priceListText(view) };
};
