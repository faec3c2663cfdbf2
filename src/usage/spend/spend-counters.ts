import type { Clock } from '../../core/time/clock.ts';
import type { Entry, Op, Store, Version } from '../../store/store.ts';
import { scopeName, spendKey, toScope, unfoldedPrefix } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { SpendLimits } from '../principal.ts';
import { slicedElsewhere } from '../slices/slice-rows.ts';
import type { PendingSpend } from './pending-spend.ts';
import { putCounter } from './put-counter.ts';
import {
  addSpend,
  earlierOf,
  exceedsLimit,
  isSpent,
  leftOf,
  spendIn,
  windowsOfDay,
  withoutPastWindows,
} from './spend.ts';
import type { Spend, SpendCall, SpendOf, SpendRecord, Windows } from './spend.ts';

/** Scopes remembered between commits; more are read again. */
const MAX_KNOWN = 10_000;
const MAX_UNFOLDED = 10_000;
/** Milliseconds after which a counter is worth another look. */
const REFRESH_MS = 1_000;

interface Counter {
  /** Undefined: the store has no record yet. */
  readonly version: Version | undefined;
  readonly record: SpendRecord;
  /**
   * Spending that other workers have settled but not yet folded into the record, when it was read.
   */
  readonly elsewhere: SpendRecord;
  /** Amount, reserved in the record, that other workers have set aside, when it was read. */
  readonly sliced: number;
  /** Elapsed time at which it was last read, or was to be. */
  askedAt: number;
}

/** Changes of one commit to the counters; nothing counts until `keep`. */
export interface SpendDraft {
  /** True when the call must be refused; the answer holds only if the commit succeeds. */
  exceeds(scope: Scope, limits: SpendLimits, call: SpendCall): boolean;
  /** Spend of a scope as the answer above was found by. */
  spent(scope: Scope): SpendOf;
  add(scope: Scope, windows: Windows, change: Readonly<Spend>): void;
  /** Amount that neither is spent nor reserved. */
  left(scope: Scope, limits: SpendLimits, windows: Windows): number;
  /** Amount that is not spent, reserved or not. */
  unspent(scope: Scope, limits: SpendLimits, windows: Windows): number;
  /** Amount that is reserved for slices of other workers. */
  sliced(scope: Scope): number;
  /** A conditional put per changed counter, and a check per counter that was only looked at. */
  ops(): Op[];
  keep(version: Version): void;
}

/** The counters of the scopes that this worker works with, as last seen in the store. */
export interface SpendCounters {
  /** Reads the counters that are not known; needed before a draft uses them. */
  load(scopes: Iterable<Scope>): Promise<void>;
  /** `own` includes earlier settlements of the same commit; default: only durable ones. */
  draft(own?: OwnSpend): SpendDraft;
  /** True when the limit was reached at the last read; undefined for a scope that is not known. */
  isSpent(scope: Scope, limits: SpendLimits, windows: Windows): boolean | undefined;
  /**
   * True when the call must be refused, for a worker in exclusive mode; undefined for a scope that is not
   * known.
   */
  exceeds(scope: Scope, limits: SpendLimits, call: SpendCall): boolean | undefined;
  /** Spend at the last read; undefined for a scope that is not known. */
  spent(scope: Scope): SpendOf | undefined;
  /** Reads one again, which stays known meanwhile; undefined: it was read within a second. Never rejects. */
  refresh(scope: Scope): Promise<void> | undefined;
  /** Another process changed it: the next `load` reads it again. */
  forget(scope: Scope): void;
  forgetAll(): void;
}

/** This worker's unfolded money of a scope, by day. */
export type OwnSpend = (scope: Scope) => Iterable<{ day: string; amount: number }>;

interface SpendCountersOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** This worker's own unfolded rows are counted from memory, by `own`. */
  readonly isOwn: (writer: string) => boolean;
  readonly own: OwnSpend;
  /** Amounts that count in addition to the stored ones. */
  readonly pending: PendingSpend;
  /** Worker whose slices are its own. Default: there are no slices on the store. */
  readonly slicer?: string | undefined;
}

export function createSpendCounters(options: SpendCountersOptions): SpendCounters {
  const known = new Map<string, Counter>();
  let forgotten = 0;
  const nowOf = (scope: Scope): SpendOf | undefined => {
    const counter = known.get(scopeName(scope));
    if (!counter) return undefined;
    return withPending(
      spendOf(counter, counter.record, options.own(scope)),
      options.pending.of(scope),
    );
  };
  return {
    async load(scopes) {
      const missing = new Map<string, Scope>();
      for (const scope of scopes) {
        const name = scopeName(scope);
        if (!known.has(name)) missing.set(name, scope);
      }
      if (missing.size === 0) return;
      const read = async ([name, scope]: [string, Scope]): Promise<void> => {
        for (;;) {
          const seen = forgotten;
          const counter = await readCounter(options, scope);
          // Another one that changed it meanwhile knows better.
          if (known.has(name)) return;
          if (seen !== forgotten) continue;
          known.set(name, counter);
          return;
        }
      };
      await Promise.all(Array.from(missing, read));
    },
    draft: (own = options.own) => createDraft(known, own),
    refresh(scope) {
      const counter = known.get(scopeName(scope));
      const now = options.clock.monotonic();
      if (!counter || now - counter.askedAt < REFRESH_MS) return undefined;
      // Calls meanwhile are decided by the known counters.
      counter.askedAt = now;
      return replace(known, scope, readCounter(options, scope));
    },
    isSpent(scope, limits, windows) {
      const spent = nowOf(scope);
      return spent && isSpent(limits, windows, spent);
    },
    exceeds(scope, limits, call) {
      const spent = nowOf(scope);
      return spent && (isSpent(limits, call.windows, spent) || exceedsLimit(limits, call, spent));
    },
    spent: nowOf,
    forget(scope) {
      forgotten++;
      known.delete(scopeName(scope));
    },
    forgetAll() {
      forgotten++;
      known.clear();
    },
  };
}

/** Enters the row that was read, unless a newer one is known meanwhile or it cannot be read. */
async function replace(
  known: Map<string, Counter>,
  scope: Scope,
  reading: Promise<Counter>,
): Promise<void> {
  const name = scopeName(scope);
  const before = known.get(name);
  const counter = await reading.catch(() => undefined);
  if (counter && known.get(name) === before) known.set(name, counter);
}

function withPending(spent: SpendOf, pending: SpendRecord | undefined): SpendOf {
  if (!pending) return spent;
  return (window) => {
    const [stored, more] = [spent(window), spendIn(pending, window)];
    return { settled: stored.settled + more.settled, reserved: stored.reserved + more.reserved };
  };
}

/**
 * The counter before the unfolded rows: a fold in between changes the counter's version, so that a commit on
 * these values fails.
 */
async function readCounter(options: SpendCountersOptions, scope: Scope): Promise<Counter> {
  const { store, clock, isOwn, slicer } = options;
  const askedAt = clock.monotonic();
  const entry = await store.get<SpendRecord>(spendKey(scope));
  const elsewhere: SpendRecord = {};
  for (const { day, writer, amount } of await listUnfolded(store, scope)) {
    if (!isOwn(writer)) addSpend(elsewhere, windowsOfDay(day), { settled: amount, reserved: 0 });
  }
  // Consistent with the counter's version, which every change of a slice changes.
  const sliced = slicer === undefined ? 0 : await slicedElsewhere(store, scope, slicer);
  return { version: entry?.version, record: entry?.value ?? {}, elsewhere, sliced, askedAt };
}

function spendOf(
  { elsewhere }: Counter,
  record: SpendRecord,
  own: Iterable<{ day: string; amount: number }>,
): SpendOf {
  const local: SpendRecord = {};
  for (const { day, amount } of own) {
    addSpend(local, windowsOfDay(day), { settled: amount, reserved: 0 });
  }
  return (window) => {
    const { settled, reserved } = spendIn(record, window);
    const unfolded = spendIn(elsewhere, window).settled + spendIn(local, window).settled;
    return { settled: settled + unfolded, reserved };
  };
}

interface UnfoldedRow {
  readonly scope: Scope;
  readonly day: string;
  readonly worker: string;
  readonly writer: string;
  readonly amount: number;
  readonly entry: Entry;
}

export async function listUnfolded(store: Store, scope: Scope): Promise<UnfoldedRow[]> {
  const prefix = unfoldedPrefix(scope);
  const entries = await store.list<number[]>({ prefix, limit: MAX_UNFOLDED });
  return entries.map(toUnfoldedRow);
}

/** Rows are `unfolded, kind, id, day, worker, writer`. */
export function toUnfoldedRow(entry: Entry<number[]>): UnfoldedRow {
  const [, kind, id, day, worker, writer] = entry.key.map(String);
  return {
    scope: toScope(kind, id ?? ''),
    day: day ?? '',
    worker: worker ?? '',
    writer: writer ?? '',
    amount: entry.value[0] ?? 0,
    entry,
  };
}

interface Touched {
  readonly scope: Scope;
  readonly counter: Counter;
  /** A copy of the record once it is changed. */
  record: SpendRecord | undefined;
  /** The earliest windows that are changed. */
  windows: Windows | undefined;
}

function createDraft(known: Map<string, Counter>, own: OwnSpend): SpendDraft {
  const touched = new Map<string, Touched>();
  const touch = (scope: Scope): Touched => {
    const name = scopeName(scope);
    let found = touched.get(name);
    if (found === undefined) {
      const counter = known.get(name);
      if (counter === undefined) throw new Error(`the spend counter ${scope.id} was not loaded`);
      found = { scope, counter, record: undefined, windows: undefined };
      touched.set(name, found);
    }
    return found;
  };

  const spentIn = (scope: Scope): SpendOf => {
    const { counter, record } = touch(scope);
    return spendOf(counter, record ?? counter.record, own(scope));
  };

  return {
    exceeds(scope, limits, call) {
      const spent = spentIn(scope);
      return isSpent(limits, call.windows, spent) || exceedsLimit(limits, call, spent);
    },
    spent: spentIn,
    left: (scope, limits, windows) => leftOf(limits, windows, spentIn(scope)),
    unspent(scope, limits, windows) {
      const spent = spentIn(scope);
      return leftOf(limits, windows, (window) => ({ ...spent(window), reserved: 0 }));
    },
    sliced: (scope) => touch(scope).counter.sliced,
    add(scope, windows, change) {
      const found = touch(scope);
      found.record ??= structuredClone(found.counter.record);
      found.windows = found.windows ? earlierOf(found.windows, windows) : windows;
      addSpend(found.record, windows, change);
    },
    ops: () => Array.from(touched.values(), toOp),
    keep(version) {
      for (const [name, { counter, record }] of touched) {
        if (!record) continue;
        const { elsewhere, sliced, askedAt } = counter;
        // The news is late: others could have changed it.
        if (known.get(name) !== counter) known.delete(name);
        else known.set(name, { version, record, elsewhere, sliced, askedAt });
      }
      if (known.size > MAX_KNOWN) known.clear();
    },
  };
}

function toOp(touched: Touched): Op {
  const { scope, counter, record, windows } = touched;
  const { version } = counter;
  if (record && windows) {
    touched.record = withoutPastWindows(record, windows);
    return putCounter(scope, touched.record, version);
  }
  const condition = version === undefined ? { ifAbsent: true as const } : { ifVersion: version };
  return { type: 'check', key: spendKey(scope), ...condition };
}
