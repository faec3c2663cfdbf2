import type { CommandRun } from '../../command.ts';
import { priceListText } from '../../output/price-list-text.ts';

export const run: CommandRun = async ({ context }) => {
  const client = await context.connect();
  const view = await client.operators.dropPrices(context.signal);
  return { data: view, text: priceListText(view) };
};
