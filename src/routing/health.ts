import type { Clock } from '../core/clock.ts';
import type { Route } from './catalog.ts';

/** Why a candidate was left, as far as its health is concerned. */
export type FaultKind =
  /** 5xx, lost connection, timeout, unreadable answer: counted, trips the breaker. */
  | 'server'
  /** 429: cooled at once until the provider's own deadline. */
  | 'rate'
  /** 401, 402, 403 of our credential: cools every route of the account. */
  | 'credential';

export interface HealthOptions {
  clock: Clock;
  /** Consecutive `server` faults that open the breaker. Default 5. */
  threshold?: number;
  /** First open period in ms, doubled at each failed probe up to `maxOpenMs`. Default 15,000. */
  openMs?: number;
  /** Default 300,000. */
  maxOpenMs?: number;
  /** Cooldown after a 429 without `Retry-After`, in ms. Default 5,000. */
  rateMs?: number;
  /** Cooldown of an account whose credential was refused, in ms. Default 60,000. */
  credentialMs?: number;
}

/** One attempt's report; only the first call counts. */
export interface HealthReport {
  success(firstContentMs: number): void;
  fault(kind: FaultKind, retryAfterMs?: number): void;
  /** The attempt says nothing about the candidate (client gone, client fault). */
  abandon(): void;
}

export interface RouteHealth {
  /** `cooled`: not before `until`; `probing`: one trial request is under way. */
  readonly state: 'available' | 'cooled' | 'probing';
  readonly until: number | undefined;
  readonly consecutiveFaults: number;
  /** Smoothed time to first content in ms (EWMA), undefined before the first success. */
  readonly latencyMs: number | undefined;
}

/** Circuit breaker and latency memory of every candidate (design: inference, step 5). */
export interface Health {
  look(route: Route): RouteHealth;
  begin(route: Route): HealthReport;
}

interface Breaker {
  faults: number;
  until: number;
  openings: number;
  /** True from the first cooldown until a success: the next request after `until` is a probe. */
  tripped: boolean;
  probing: boolean;
  latencyMs: number | undefined;
}

const LATENCY_WEIGHT = 0.2;

export function createHealth(options: HealthOptions): Health {
  const { clock, threshold = 5, openMs = 15_000, maxOpenMs = 300_000 } = options;
  const { rateMs = 5_000, credentialMs = 60_000 } = options;
  const breakers = new Map<string, Breaker>();

  const breaker = (key: string): Breaker => {
    let found = breakers.get(key);
    if (!found) {
      found = {
        faults: 0,
        until: 0,
        openings: 0,
        tripped: false,
        probing: false,
        latencyMs: undefined,
      };
      breakers.set(key, found);
    }
    return found;
  };

  const cool = (target: Breaker, ms: number): void => {
    target.until = Math.max(target.until, clock.now() + ms);
    target.tripped = true;
  };

  const fault = (route: Route, kind: FaultKind, retryAfterMs: number | undefined): void => {
    const own = breaker(routeKey(route));
    if (kind === 'credential') return cool(breaker(accountKey(route)), credentialMs);
    if (kind === 'rate') return cool(own, retryAfterMs ?? rateMs);
    own.faults += 1;
    if (retryAfterMs !== undefined) cool(own, retryAfterMs);
    if (own.faults < threshold && own.openings === 0) return;
    cool(own, Math.min(openMs * 2 ** own.openings, maxOpenMs));
    own.openings += 1;
  };

  return {
    look: (route) =>
      lookAt(clock.now(), breakers.get(routeKey(route)), breakers.get(accountKey(route))),

    begin(route) {
      const parts = [breaker(routeKey(route)), breaker(accountKey(route))];
      const probed = parts.filter((part) => part.tripped && !part.probing);
      for (const part of probed) part.probing = true;
      let open = true;
      const finish = (report: () => void): void => {
        if (!open) return;
        open = false;
        for (const part of probed) part.probing = false;
        report();
      };
      return {
        success: (firstContentMs) => finish(() => recover(parts, firstContentMs)),
        fault: (kind, retryAfterMs) => finish(() => fault(route, kind, retryAfterMs)),
        abandon: () => finish(() => undefined),
      };
    },
  };
}

function lookAt(now: number, own: Breaker | undefined, account: Breaker | undefined): RouteHealth {
  const until = Math.max(own?.until ?? 0, account?.until ?? 0);
  const probing = Boolean(own?.probing) || Boolean(account?.probing);
  return {
    state: until > now ? 'cooled' : probing ? 'probing' : 'available',
    until: until > now ? until : undefined,
    consecutiveFaults: own?.faults ?? 0,
    latencyMs: own?.latencyMs,
  };
}

function recover(parts: Breaker[], firstContentMs: number): void {
  for (const part of parts) {
    part.faults = 0;
    part.openings = 0;
    part.until = 0;
    part.tripped = false;
  }
  const own = parts[0];
  if (!own) return;
  own.latencyMs =
    own.latencyMs === undefined
      ? firstContentMs
      : own.latencyMs + LATENCY_WEIGHT * (firstContentMs - own.latencyMs);
}

/** Logical models that share an upstream model share its health. */
function routeKey(route: Route): string {
  return `${route.provider.id}\n${route.upstreamModel}`;
}

function accountKey(route: Route): string {
  return route.provider.id;
}
