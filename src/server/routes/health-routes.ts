import type { Clock, Timer } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import type { Handler } from '../../surfaces/http-exchange.ts';
import { VERSION } from '../process/gateway-version.ts';
import type { RouteSpec } from '../http/routes.ts';

/** Condition on which readiness depends, and its report. */
export interface Condition {
  readonly draining: boolean;
  /** Changes with the served configuration. */
  readonly configuration: string;
  /** Reason why the last reload was refused; the former configuration serves on. */
  readonly reloadError: string | null;
}

export interface HealthDeps {
  readonly store: Pick<Store, 'ping'>;
  readonly clock: Clock;
  condition(): Condition;
}

/** Milliseconds for the store's answer: probes of readiness wait a second or a few. */
const STORE_MS = 1_000;

/**
 * `GET /healthz`: the process lives. `GET /readyz`: it can serve, too; 503 while the store fails or
 * the gateway drains. Neither needs a key nor counts against limits (requirement ops.health).
 */
export function healthRoutes({ store, clock, condition }: HealthDeps): RouteSpec[] {
  const check = createStoreCheck(store, clock);
  const alive: Handler = async () => ({ status: 200, body: { status: 'ok' } });
  const ready: Handler = async () => {
    const { draining, configuration, reloadError } = condition();
    const storeOk = await check();
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
    { path: '/healthz', envelope: 'flat', methods: { GET: alive }, isProbe: true },
    { path: '/readyz', envelope: 'flat', methods: { GET: ready }, isProbe: true },
  ];
}

/** Checks whether the store takes a write within a second; concurrent callers share the answer. */
function createStoreCheck(store: HealthDeps['store'], clock: Clock): () => Promise<boolean> {
  let asking: Promise<boolean> | undefined;
  const ask = async (): Promise<boolean> => {
    let timer: Timer | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = clock.setTimeout(() => resolve(false), STORE_MS);
    });
    const done = store.ping().then(
      () => true,
      () => false,
    );
    return Promise.race([done, late]).finally(() => timer?.cancel());
  };
  return () => (asking ??= ask().finally(() => (asking = undefined)));
}
