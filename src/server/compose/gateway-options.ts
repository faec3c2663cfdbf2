import type { MailTarget } from '../../alerts/send-mail.ts';
import type { openStore } from '../../store/open-store.ts';
import type { ProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import type { SsoSettings } from '../sso/provider.ts';
import type { ResourcesOptions } from './open-resources.ts';
import type { Programs } from './resolve-programs.ts';

export interface GatewayOptions extends ResourcesOptions {
  /** Uniform in [0, 1). */
  random(): number;
  /** Most connections at once to each provider or API that sets no number itself. */
  connections: number;
  /** Programs that turns of Agents may run. */
  programs: Programs;
  /** Mail targets of alerts. */
  mails: readonly MailTarget[];
  /** Single sign-on of people. Default none. */
  ssoSettings?: SsoSettings | undefined;
  /** Variables of this process, of which harnesses get little. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Proxies of everything outbound. Default none. */
  proxies?: ProxyRules | undefined;
  /** False for a process that leaves turns, runs, Schedules and sweeps to others. Default true. */
  takesWork?: boolean | undefined;
  /** Default: the store of the configuration. */
  openStore?: typeof openStore | undefined;
}
