import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { isForgiven } from './health.ts';
import type { Cooldown, FaultKind, Health } from './health.ts';

export interface OutageLogOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Name of a provider by its id. */
  nameOf(provider: string): string;
}

/** Receives the outages of this process, and those that other processes report. */
export interface OutageLog extends Pick<Health, 'learn' | 'forgive'> {
  began(name: string, cooldown: Cooldown, kind: FaultKind): void;
  ended(name: string): void;
}

interface Outage {
  readonly since: number;
  /** Its beginning is in the log of this process, and so its end will be. */
  readonly isLogged: boolean;
  /** It began as a wait that the provider asked for. */
  readonly isWaiting: boolean;
  until: number;
}

const MOST = 1_000;
/** A candidate that begins to wait again within so many ms of its recovery gets no further line. */
const QUIET_MS = 60_000;

/**
 * Writes one line when a candidate is left out and one when it serves again, however many requests meet it
 * meanwhile. Of the processes on one store only the one that found it out writes both.
 */
export function createOutageLog({ clock, log, nameOf }: OutageLogOptions): OutageLog {
  const outages = new Map<string, Outage>();
  /** Instants of the last logged ends, by the monotonic clock. */
  const ends = new Map<string, number>();

  const fieldsOf = (name: string): Record<string, unknown> => {
    const [id = '', model] = name.split('\n');
    return { provider: nameOf(id), ...(model !== undefined && { model }) };
  };

  const open = (name: string, outage: Outage): void => {
    const [oldest] = outages.keys();
    // It may never serve again, as a model that was taken out.
    if (outages.size >= MOST && oldest !== undefined && !outages.has(name)) outages.delete(oldest);
    outages.set(name, outage);
  };

  const ended = (name: string): void => {
    const outage = outages.get(name);
    outages.delete(name);
    if (!outage?.isLogged) return;
    if (ends.size >= MOST) ends.clear();
    ends.set(name, clock.monotonic());
    const leftOut = Math.round(clock.monotonic() - outage.since);
    log.info('provider serves again', { ...fieldsOf(name), left_out_ms: leftOut });
  };

  return {
    began(name, { until, openings }, kind) {
      const known = outages.get(name);
      const isWaiting = kind !== 'credential' && openings === 0;
      if (known) {
        known.until = Math.max(known.until, until);
        // A wait may turn into a failure, which no line has named yet.
        if (isWaiting || !known.isWaiting) return;
      }
      const since = known?.since ?? clock.monotonic();
      const isLogged = !isWaiting || since - (ends.get(name) ?? -Infinity) >= QUIET_MS;
      open(name, { since, isLogged, isWaiting, until: known?.until ?? until });
      if (!isLogged) return;
      const fields = { ...fieldsOf(name), reason: reasonOf(kind, openings), until: toIso(until) };
      if (isWaiting) log.info('provider left out', fields);
      else log.warn('provider left out', fields);
    },
    ended,
    learn(name, { until }) {
      const since = clock.monotonic();
      if (!outages.has(name)) open(name, { since, isLogged: false, isWaiting: false, until });
    },
    forgive(name, until) {
      const outage = outages.get(name);
      if (outage && isForgiven(outage.until, until, clock.now())) ended(name);
    },
  };
}

function reasonOf(kind: FaultKind, openings: number): string {
  if (kind === 'credential') return 'it refused its key';
  return openings > 0 ? 'failures in a row' : 'it asked to wait';
}

const toIso = (at: number): string => new Date(at).toISOString();
