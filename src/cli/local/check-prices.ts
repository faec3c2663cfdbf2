import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../client/create-client.ts';
import type { UnpricedRoute } from '../../config/read/check-prices.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { CommandContext } from '../context.ts';
import type { Finding } from './health-checks.ts';

const SHOWN = 20;
const TIMEOUT_MS = 5_000;

/**
 * Names of the routes and APIs without a known price that a gateway serves: it knows the list of prices
 * that is kept in its store. Undefined without its admin key, or when it does not say.
 */
export async function servedUnpriced(
  { baseUrl, dataDir }: { readonly baseUrl: string; readonly dataDir: string },
  { io, clock, signal }: CommandContext,
): Promise<readonly string[] | undefined> {
  try {
    const apiKey = (await readFile(join(dataDir, 'admin.key'), 'utf8')).trim();
    const http = { baseUrl, apiKey, clock, fetch: io.fetch, timeoutMs: TIMEOUT_MS };
    const client = createClient({ ...http, retry: { maxAttempts: 1 } });
    return (await client.operators.status(signal)).unpriced;
  } catch {
    return undefined;
  }
}

/** Name of what a file declares without a price, as a gateway calls it. */
export const unpricedName = ({ kind, name }: UnpricedRoute): string =>
  kind === 'api' ? `API ${name}` : name;

/** Routes and APIs without a known price, and what becomes of their calls under a limit. */
export function checkPrices(
  names: readonly string[],
  { limits }: Pick<ServerConfig, 'limits'>,
): Finding {
  const name = 'prices';
  if (names.length === 0) return { name, state: 'ok', message: 'every route has a known price' };
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
