import type { Clock } from '../core/time/clock.ts';
import { isFromAhead, timeLeft, toDeadline } from '../core/time/deadline.ts';
import type { Route } from './catalog.ts';

/** Reason why a candidate was left, as far as its health is concerned. */
export type FaultKind =
  /** 5xx, lost connection, timeout, unreadable answer: counted, trips the breaker. */
  | 'server'
  /** 429: cooled at once until the provider's own deadline. */
  | 'rate'
  /** 401, 402, 403, 407 of our credential: cools every route of the account. */
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
  /** Receives each cooldown that begins or is extended. Default: no receiver. */
  onCooldown?: (name: string, cooldown: Cooldown, kind: FaultKind) => void;
  /** Receives a recovery: it ends the cooldowns up to `until`, and no later one. Default: no receiver. */
  onRecovery?: (name: string, until: number) => void;
}

/** Facts that another process must know of a breaker that has opened. */
export interface Cooldown {
  /** Deadline by the wall clock. */
  readonly until: number;
  /** Times in a row that it opened for faults: each doubles the next. */
  readonly openings: number;
}

/** One attempt's report; only the first call counts. */
export interface HealthReport {
  /** Takes the time to the first content of a stream, or to the end of a whole answer. */
  success(latencyMs: number): void;
  fault(kind: FaultKind, retryAfterMs?: number): void;
  /** The attempt says nothing about the candidate (client gone, client fault). */
  abandon(): void;
}

export interface RouteHealth {
  /** `cooled`: not before `until`; `probing`: one trial request is under way. */
  readonly state: 'available' | 'cooled' | 'probing';
  readonly until: number | undefined;
  readonly consecutiveFaults: number;
  /** Smoothed latency in ms (EWMA), undefined where it was not measured lately. */
  readonly latencyMs: number | undefined;
}

/** Form of an answer: the latency of a whole one is no match for that of a stream. */
export type AnswerForm = 'stream' | 'whole';

/** Circuit breaker and latency memory of every candidate (design: inference, step 5). */
export interface Health {
  /** `form` of the latency that is returned. Default: that of streams, else that of whole answers. */
  look(route: Route, form?: AnswerForm): RouteHealth;
  /** Default: an attempt at a stream. */
  begin(route: Route, form?: AnswerForm): HealthReport;
  /** Takes over a cooldown that another process reported; of two deadlines the later one holds. */
  learn(name: string, cooldown: Cooldown): void;
  /** Takes over a recovery that another process reported; a cooldown beyond `until` holds. */
  forgive(name: string, until: number): void;
}

interface Breaker {
  /** The route's or the account's. */
  readonly name: string;
  faults: number;
  /** Instant of the monotonic clock. */
  until: number;
  /** Deadline that others know the cooldown by; undefined without one. */
  told: number | undefined;
  openings: number;
  /** True from the first cooldown until a success: the next request after `until` is a probe. */
  tripped: boolean;
  probing: boolean;
  /** Cooldowns so far: an attempt that began before the latest one knows nothing of the time since. */
  cooldowns: number;
  readonly latencies: Record<AnswerForm, Latency | undefined>;
}

/** Latency of one success. */
interface Seen {
  readonly form: AnswerForm;
  readonly ms: number;
  readonly at: number;
}

interface Latency {
  ms: number;
  /** Instant of the monotonic clock from which it counts as fresh. */
  at: number;
  /** It is being measured again: the next value replaces it. */
  isOld: boolean;
}

/** A breaker as an attempt found it when it began. */
interface Found {
  readonly breaker: Breaker;
  readonly cooldowns: number;
  /** The attempt is a last resort, not a probe. */
  readonly wasCooled: boolean;
}

const LATENCY_WEIGHT = 0.2;
/** A route that was slow once gets no traffic by latency, so that its latency has to expire. */
const LATENCY_FRESH_MS = 300_000;
/** Breakers that are kept; names of undeclared models are the clients'. */
const MAX_BREAKERS = 10_000;

export function createHealth(options: HealthOptions): Health {
  const { clock, threshold = 5, openMs = 15_000, maxOpenMs = 300_000 } = options;
  const { rateMs = 5_000, credentialMs = 60_000 } = options;
  const { onCooldown = () => undefined, onRecovery = () => undefined } = options;
  const breakers = new Map<string, Breaker>();
  const breakerOf = (name: string): Breaker => breakers.get(name) ?? addBreaker(breakers, name);

  const find = (name: string): Found => {
    const breaker = breakerOf(name);
    return { breaker, cooldowns: breaker.cooldowns, wasCooled: breaker.until > clock.monotonic() };
  };

  const cool = (target: Breaker, ms: number, kind: FaultKind): void => {
    const told = toDeadline(clock.now(), ms);
    trip(target, { until: clock.monotonic() + ms, told });
    onCooldown(target.name, { until: target.told ?? told, openings: target.openings }, kind);
  };

  const fault = (
    [route, account]: readonly [Found, Found],
    kind: FaultKind,
    retryAfterMs: number | undefined,
  ): void => {
    const own = route.breaker;
    if (kind === 'credential') return cool(account.breaker, credentialMs, kind);
    if (kind === 'rate') return cool(own, retryAfterMs ?? rateMs, kind);
    // Requests that fail together are one failure of the candidate, not a row of failed probes.
    const isNews = !route.wasCooled && own.cooldowns === route.cooldowns;
    if (retryAfterMs !== undefined) cool(own, retryAfterMs, kind);
    if (!isNews) return;
    own.faults += 1;
    if (own.faults < threshold && own.openings === 0) return;
    own.openings += 1;
    cool(own, Math.min(openMs * 2 ** (own.openings - 1), maxOpenMs), kind);
  };

  return {
    look: (route, form) => lookAt(breakers, { route, form }, clock),

    begin(route, form = 'stream') {
      const parts = [find(routeKey(route)), find(accountKey(route))] as const;
      const probed = parts
        .map((part) => part.breaker)
        .filter((part) => part.tripped && !part.probing);
      for (const part of probed) part.probing = true;
      measureAnew(parts[0].breaker.latencies[form], clock.monotonic());
      let open = true;
      const finish = (report: () => void): void => {
        if (!open) return;
        open = false;
        for (const part of probed) part.probing = false;
        report();
      };
      return {
        success: (ms) =>
          finish(() => recover(parts, { form, ms, at: clock.monotonic() }, onRecovery)),
        fault: (kind, retryAfterMs) => finish(() => fault(parts, kind, retryAfterMs)),
        abandon: () => finish(() => undefined),
      };
    },

    learn: (name, cooldown) => takeOver(breakerOf(name), cooldown, clock),

    forgive: (name, until) => pardon(breakers.get(name), until, clock.now()),
  };
}

function pardon(breaker: Breaker | undefined, until: number, now: number): void {
  if (breaker && isForgiven(breaker.told, until, now)) reset(breaker);
}

/**
 * True when a recovery that ends the cooldowns up to `until` ends the one that was reported as `told`. Those of
 * different sides of a step of the clock have no order.
 */
export function isForgiven(told: number | undefined, until: number, now: number): boolean {
  return told === undefined || told === until || (told < until && !isFromAhead(until, now));
}

/** Cooldowns are relative, so clock skew between processes does not extend them. */
function takeOver(breaker: Breaker, { until: told, openings }: Cooldown, clock: Clock): void {
  if (told === breaker.told) return;
  const left = timeLeft(told, clock.now());
  const until = clock.monotonic() + left;
  if (left <= 0 || until <= breaker.until) return;
  trip(breaker, { until, told });
  breaker.openings = Math.max(breaker.openings, openings);
}

/** Opens a breaker; of two cooldowns the one that ends later holds. */
function trip(breaker: Breaker, { until, told }: { until: number; told: number }): void {
  if (until > breaker.until) {
    breaker.until = until;
    breaker.told = told;
  }
  breaker.tripped = true;
  breaker.cooldowns += 1;
}

function reset(breaker: Breaker): void {
  breaker.faults = 0;
  breaker.openings = 0;
  breaker.until = -Infinity;
  breaker.told = undefined;
  breaker.tripped = false;
}

function addBreaker(breakers: Map<string, Breaker>, name: string): Breaker {
  if (breakers.size >= MAX_BREAKERS) forgetOne(breakers);
  const breaker = newBreaker(name);
  breakers.set(name, breaker);
  return breaker;
}

/** Drops the oldest that holds nothing back. */
function forgetOne(breakers: Map<string, Breaker>): void {
  for (const [name, { tripped, probing }] of breakers)
    if (!tripped && !probing) return void breakers.delete(name);
}

function newBreaker(name: string): Breaker {
  return {
    name,
    faults: 0,
    until: -Infinity,
    told: undefined,
    openings: 0,
    tripped: false,
    probing: false,
    cooldowns: 0,
    latencies: { stream: undefined, whole: undefined },
  };
}

function lookAt(
  breakers: ReadonlyMap<string, Breaker>,
  { route, form }: { route: Route; form: AnswerForm | undefined },
  clock: Clock,
): RouteHealth {
  const own = breakers.get(routeKey(route));
  const account = breakers.get(accountKey(route));
  const until = Math.max(own?.until ?? -Infinity, account?.until ?? -Infinity);
  const left = until - clock.monotonic();
  const probing = Boolean(own?.probing) || Boolean(account?.probing);
  return {
    state: left > 0 ? 'cooled' : probing ? 'probing' : 'available',
    until: left > 0 ? clock.now() + left : undefined,
    consecutiveFaults: own?.faults ?? 0,
    latencyMs: own && freshLatency(own, form, clock.monotonic()),
  };
}

function recover(
  parts: readonly [Found, Found],
  seen: Seen,
  onRecovery: (name: string, until: number) => void,
): void {
  for (const { breaker, cooldowns } of parts) {
    if (breaker.cooldowns !== cooldowns) continue;
    const { told } = breaker;
    reset(breaker);
    if (told !== undefined) onRecovery(breaker.name, told);
  }
  measure(parts[0].breaker, seen);
}

function freshLatency(
  { latencies: { stream, whole } }: Breaker,
  form: AnswerForm | undefined,
  now: number,
): number | undefined {
  if (form === undefined) return ifFresh(stream, now) ?? ifFresh(whole, now);
  return ifFresh(form === 'stream' ? stream : whole, now);
}

function ifFresh(known: Latency | undefined, now: number): number | undefined {
  return known && now - known.at < LATENCY_FRESH_MS ? known.ms : undefined;
}

/** Lets one attempt measure an expired latency again; until it has, all others use the former value. */
function measureAnew(known: Latency | undefined, now: number): void {
  if (!known || now - known.at < LATENCY_FRESH_MS) return;
  known.at = now;
  known.isOld = true;
}

function measure({ latencies }: Breaker, { form, ms, at }: Seen): void {
  const known = latencies[form];
  if (!known) {
    latencies[form] = { ms, at, isOld: false };
    return;
  }
  known.ms = known.isOld ? ms : known.ms + LATENCY_WEIGHT * (ms - known.ms);
  known.at = at;
  known.isOld = false;
}

/** Logical models that share an upstream model share its health. */
function routeKey(route: Route): string {
  return `${route.provider.id}\n${route.upstreamModel}`;
}

function accountKey(route: Route): string {
  return route.provider.id;
}
