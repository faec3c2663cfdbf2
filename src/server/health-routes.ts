import type { Store } from '../store/store.ts';
import type { Handler } from '../surfaces/http-exchange.ts';
import { VERSION } from './gateway-version.ts';
import type { RouteSpec } from './routes.ts';

/** What readiness depends on, and what it tells. */
export interface Condition {
  readonly draining: boolean;
  /** Changes with the served configuration. */
  readonly configuration: string;
  /** Why the last reload was refused; the former configuration serves on. */
  readonly reloadError: string | null;
}

/**
 * `GET /healthz`: the process lives. `GET /readyz`: it can serve, too; 503 while the store fails or
 * the gateway drains. Neither needs a key nor counts against limits (requirement ops.health).
 */
export function healthRoutes(store: Store, condition: () => Condition): RouteSpec[] {
  const alive: Handler = async () => ({ status: 200, body: { status: 'ok' } });
  const ready: Handler = async () => {
    const { draining, configuration, reloadError } = condition();
    const storeOk = await store.ping().then(
      () => true,
      () => false,
    );
    const isReady = storeOk && !draining;
    const body = {
      status: isReady ? 'ready' : 'unavailable',
      store: storeOk ? 'ok' : 'failing',
      draining,
      configuration,
      reload_error: reloadError,
      version: VERSION,
    };
    return { status: isReady ? 200 : 503, body };
  };
  return [
    { path: '/healthz', envelope: 'flat', methods: { GET: alive } },
    { path: '/readyz', envelope: 'flat', methods: { GET: ready } },
  ];
}
