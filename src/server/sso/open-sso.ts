import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { createUrlGuard } from '../../upstream/guard/url-guard.ts';
import type { ProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import { createOpenIdProvider } from './provider.ts';
import type { Claims, OpenIdProvider, SsoSettings } from './provider.ts';
import { signInPerson } from './sign-in.ts';
import type { Arrival, PersonKey } from './sign-in.ts';

export interface SsoDeps {
  readonly settings: SsoSettings;
  readonly config: Pick<ServerConfig, 'outbound'>;
  readonly proxies?: ProxyRules | undefined;
  readonly repository: Repository;
  readonly clock: Clock;
}

/** Single sign-on of people. */
export interface Sso {
  readonly settings: SsoSettings;
  readonly provider: OpenIdProvider;
  /** Makes the key of the person who came back. Rejects with `sso_refused`. */
  signIn(claims: Claims, arrival: Arrival): Promise<PersonKey>;
}

/** The operator named the issuer, which may lie in a network of their own. */
export function openSso(deps: SsoDeps): Sso {
  const { settings, config, proxies, clock } = deps;
  const allow = [...config.outbound.allow, new URL(settings.issuer).hostname];
  const guard = createUrlGuard({ allow, proxies });
  return {
    settings,
    provider: createOpenIdProvider({ settings, guard, clock }),
    signIn: (claims, arrival) => signInPerson(claims, arrival, deps),
  };
}
