import { lazy } from '../../core/lazy.ts';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { askProvider } from '../../inference/ask-provider.ts';
import type { KeyLookup } from '../../surfaces/gate.ts';
import { createHttp1Transport } from '../../upstream/http1/http1-transport.ts';
import { NO_PROXIES } from '../../upstream/proxy/proxy-rules.ts';
import type { ProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import type { ReadDocument } from './signing-keys.ts';
import type { TokenLookup, TokenLookupDeps } from './token-lookup.ts';

export interface TokensDeps extends Omit<TokenLookupDeps, 'read' | 'onError'> {
  readonly log: Pick<Log, 'warn'>;
  readonly proxies?: ProxyRules | undefined;
  /** Age of the last known state of changes, in milliseconds. */
  ageMs(): number;
}

/** Form of a signed token in its compact form (RFC 7515, 7.1): its header begins with `{"`. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;
const MAX_TOKEN_LENGTH = 8_192;
/** Longest delay, as with keys, until tokens of a revoked subject are refused everywhere. */
const MAX_AGE_MS = 1_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;

/** Takes tokens of issuers in addition to keys. Without an issuer every value counts as a key. */
export function withTokens(lookup: KeyLookup, deps: TokensDeps): KeyLookup {
  if (deps.issuers.length === 0) return lookup;
  const tokens = lazy('tokens', async () => {
    const { TokenLookup } = await import('./token-lookup.ts');
    const onError = (error: unknown): void =>
      deps.log.warn('keys of an issuer could not be read', { reason: String(error) });
    return new TokenLookup({ ...deps, onError, read: readBy(deps) });
  });
  let loaded: TokenLookup | undefined;
  const later = async (token: string) => {
    loaded = await tokens();
    if (deps.ageMs() >= MAX_AGE_MS) await deps.catchUp();
    return loaded.find(token);
  };
  return (presented) => {
    if (!TOKEN.test(presented)) return lookup(presented);
    if (presented.length > MAX_TOKEN_LENGTH) return 'unknown';
    return loaded && deps.ageMs() < MAX_AGE_MS ? loaded.find(presented) : later(presented);
  };
}

/** Documents of issuers come as everything outbound does: through proxies, bounded in size and time. */
function readBy({ clock, proxies = NO_PROXIES }: { clock: Clock } & TokensDeps): ReadDocument {
  const http = createHttp1Transport({ clock });
  return async (url) => {
    const transport = http.reaching({ proxy: proxies.proxyOf(url, undefined) });
    const bounds = { clock, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
    const answer = await askProvider(
      { url: new URL(url), method: 'GET', headers: [], body: undefined },
      { ...bounds, transport },
    );
    if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
    return answer.body.toString('utf8');
  };
}
