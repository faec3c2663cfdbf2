import type { Clock, Timer } from '../../core/time/clock.ts';
import type { GatewayError } from '../../core/errors.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Store } from '../../store/store.ts';
import { requestKey } from '../ledger/ledger-keys.ts';
import type { AttemptRecord, RequestOutcome } from '../ledger/ledger.ts';
import type { RequestOrigin } from '../origin.ts';
import type { PayingKey } from '../principal.ts';
import { toEndRow, toStartRow } from './request-row.ts';
import type { EndRow } from './request-row.ts';

/** A request that was refused before it had an entry in the ledger. */
export interface Refusal {
  readonly id: string;
  /** Milliseconds since epoch, and Clock.monotonic(), at arrival. */
  readonly at: number;
  readonly startedAt: number;
  readonly surface: string;
  /** Absent: its credential was refused or not checked. */
  readonly payer?: PayingKey | undefined;
  /** Name that the client asked for; empty where it is not known. */
  readonly model: string;
  readonly stream: boolean;
  readonly origin?: RequestOrigin | undefined;
  /** Error that the client got, and the original one. */
  readonly told: GatewayError;
  readonly cause: GatewayError;
  /** Routes that were skipped. */
  readonly attempts?: AttemptRecord[] | undefined;
}

/** A refusal as observers see it. */
export interface RefusedStart extends Pick<
  Refusal,
  'id' | 'at' | 'surface' | 'model' | 'stream' | 'origin'
> {
  readonly principal: PayingKey;
}

export interface RefusalsDeps {
  store: Pick<Store, 'commit'>;
  clock: Clock;
  /** Receives each refusal that leaves a record. */
  observe(start: RefusedStart, outcome: RequestOutcome): void;
  /** Counts every refusal, by the code of its error. */
  count(code: string): void;
  /** Reports how many refusals without a payer left no record, and in how many milliseconds. */
  onLeftOut(refusals: number, ms: number): void;
  /** The store took records not. */
  onError(error: unknown): void;
}

export interface Refusals {
  note(refusal: Refusal): void;
  /** True where a refusal with this very error was noted. */
  has(told: GatewayError): boolean;
  /** Resolves when everything noted so far is written, or was refused by the store. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Records of refusals without a payer within {@link SPAN_MS}: their number has no bound. */
const KEPT = 20;
const SPAN_MS = 60_000;
/** Records of one commit. */
const BATCH = 256;
/** Records that wait; more are left out while the store is slow. */
const MAX_WAITING = 4096;
const NOBODY: PayingKey = Object.freeze({ keyId: '', keyName: '', organizationId: '' });

/** Writes the records of refused requests, which count in no sum and reserve nothing. */
export function createRefusals(deps: RefusalsDeps): Refusals {
  const sample = createSample(deps);
  let waiting: [id: string, row: EndRow][] = [];
  let writing: Promise<void> | undefined;
  const noted = new WeakSet<GatewayError>();

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const rows = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      const ops = rows.map(([id, value]) => ({ type: 'put', key: requestKey(id), value }) as const);
      try {
        await deps.store.commit(ops);
      } catch (error) {
        deps.onError(error);
      }
    }
    writing = undefined;
  };
  return {
    has: (told) => noted.has(told),
    note(refusal) {
      noted.add(refusal.told);
      deps.count(refusal.cause.code);
      // A call refused by a rate of the whole gateway is one of very many.
      const payer = refusal.cause.code === 'global_rate_limited' ? undefined : refusal.payer;
      if (!payer && !sample.takes()) return;
      const principal = payer ?? NOBODY;
      const outcome = outcomeOf(refusal, deps.clock);
      deps.observe({ ...refusal, principal }, outcome);
      if (waiting.length >= MAX_WAITING) return;
      const start = toStartRow({ ...refusal, principal });
      waiting.push([refusal.id, toEndRow(start, outcome, false)]);
      // Those of one turn of the loop share a commit.
      writing ??= Promise.resolve().then(write);
    },
    drain: async () => writing,
    async close() {
      sample.end();
      await writing;
    },
  };
}

function outcomeOf(
  { told, cause, attempts = [], startedAt }: Refusal,
  clock: Clock,
): RequestOutcome {
  const ms = clock.monotonic() - startedAt;
  return {
    status: told.status,
    result: 'error',
    errorCode: cause.code,
    limit: cause.limit,
    attempts,
    usage: NO_USAGE,
    estimated: false,
    cost: 0,
    losses: [],
    overheadUs: Math.round(ms * 1000),
    firstContentMs: null,
    totalMs: Math.round(ms),
  };
}

/** The first few of each span; the number of the others is reported at its end. */
function createSample({ clock, onLeftOut }: Pick<RefusalsDeps, 'clock' | 'onLeftOut'>): {
  takes(): boolean;
  end(): void;
} {
  let taken = 0;
  let leftOut = 0;
  let timer: Timer | undefined;
  const end = (): void => {
    timer?.cancel();
    timer = undefined;
    if (leftOut > 0) onLeftOut(leftOut, SPAN_MS);
    taken = 0;
    leftOut = 0;
  };
  return {
    takes() {
      timer ??= clock.setTimeout(end, SPAN_MS);
      if (taken < KEPT) return ++taken > 0;
      leftOut++;
      return false;
    },
    end,
  };
}
