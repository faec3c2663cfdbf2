import { GatewayError } from '../../core/errors.ts';
import { readKey } from '../../surfaces/carriers.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import { asAdmin } from '../routes/admin-handlers.ts';
import type { HandlersOf } from '../routes/lazy-routes.ts';
import type { CONSOLE_ROUTES } from '../routes/outlines.ts';
import { CONSOLE_PATH } from './console-front.ts';
import { createConsoleSessions } from './console-sessions.ts';
import type { ConsoleSessionsDeps } from './console-sessions.ts';
import { isConsoleServed, ownAddress } from './is-console-served.ts';
import type { Places } from './is-console-served.ts';

export interface LinkDeps extends GateDeps, ConsoleSessionsDeps {
  readonly config: Places;
  /** Mark of the value that a key was presented with. */
  valueOf(presented: string): string | undefined;
}

/** Link that signs one browser in with the key that asked for it. */
export interface ConsoleLinkView {
  readonly type: 'console_link';
  /** Word of the link, as the sign-in takes it. */
  readonly link: string;
  /** Path below the address of the gateway, or of {@link url}. */
  readonly path: string;
  /** Origin of the console where it has an address of its own; else null. */
  readonly url: string | null;
  readonly expires_at: string;
}

/** `POST /admin/v1/console/links` (requirement console.one-time-link). */
export function linkHandlers(deps: LinkDeps): HandlersOf<typeof CONSOLE_ROUTES> {
  const sessions = createConsoleSessions(deps);
  return {
    createLink: asAdmin('self', deps, async ({ request, search }, { keyId: key }) => {
      if (!isConsoleServed(deps.config)) {
        const message = 'this gateway does not serve the console; set server.console.enabled: true';
        throw new GatewayError('conflict', { message });
      }
      const presented = readKey(['bearer'], request.headers, search) ?? '';
      const value = deps.valueOf(presented);
      const { link, expiresAt } = await sessions.makeLink({ key, value });
      const body: ConsoleLinkView = {
        type: 'console_link',
        link,
        path: `${CONSOLE_PATH}/#link=${link}`,
        url: ownAddress(deps.config) ?? null,
        expires_at: new Date(expiresAt).toISOString(),
      };
      return { status: 201, headers: { 'cache-control': 'no-store' }, body };
    }),
  };
}
