import type { UnpricedRoute } from '../../config/read/check-prices.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { Finding } from './health-checks.ts';

const SHOWN = 20;

/** Declared routes and APIs without a known price, and what becomes of their calls under a limit. */
export function checkPrices(
  unpriced: readonly UnpricedRoute[],
  { limits }: Pick<ServerConfig, 'limits'>,
): Finding {
  const name = 'prices';
  if (unpriced.length === 0) return { name, state: 'ok', message: 'every route has a known price' };
  const names = unpriced.map(({ kind, name: one }) => (kind === 'api' ? `API ${one}` : one));
  const more = names.length > SHOWN ? `, and ${names.length - SHOWN} more` : '';
  const effect =
    limits.unpriced === 'refuse'
      ? 'calls under a spending limit do not use them'
      : 'spending limits do not hold for them';
  return {
    name,
    state: 'warn',
    message: `unpriced: ${names.slice(0, SHOWN).join(', ')}${more}`,
    hint: `${effect}; set pricing, free too, on the model, route or API`,
  };
}
