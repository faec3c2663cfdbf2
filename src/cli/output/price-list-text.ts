import type { PriceListView } from '../../client/operators.ts';
import { counted } from '../../core/counted.ts';
import { oneLine } from '../../core/printable.ts';

/** Line that names the list of published prices in use. */
export function priceListText(view: PriceListView): string {
  if (view.in_use === 'shipped')
    return `the prices that come with the gateway: genai-prices ${oneLine(view.shipped_version)}`;
  const { from, kept_at: at, models, sha256 } = view;
  const lines = [
    `the prices kept from ${oneLine(String(from))} at ${oneLine(String(at))}: ${counted(Number(models), 'model')}`,
    `sha256 ${oneLine(String(sha256))}`,
    'gateway prices reset goes back to those that come with the gateway',
  ];
  return lines.join('\n');
}
