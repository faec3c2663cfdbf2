import { createIdSource } from '../../src/core/ids.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { StoreError } from '../../src/store/store.ts';
import type { CommitResult, Op, Store } from '../../src/store/store.ts';
import type { LedgerEntry, RequestOutcome, RequestStart } from '../../src/usage/ledger/ledger.ts';
import type { Principal } from '../../src/usage/principal.ts';
import type { Caller } from '../../src/usage/rates/rate-shares.ts';
import type { RateLimiter } from '../../src/usage/rates/limiter.ts';
import type { PendingClaim } from '../../src/usage/rates/pending-claim.ts';
import type { FakeClock } from '../support/fake-clock.ts';

export const DOLLAR = 1_000_000_000;
export const DAY = 86_400_000;

export function principal(overrides: Partial<Principal> = {}): Principal {
  return {
    keyId: 'key_1',
    keyName: 'first',
    organizationId: 'org_1',
    organizationEnabled: true,
    scopes: null,
    keySpend: null,
    organizationSpend: null,
    rpmCap: null,
    concurrencyCap: null,
    allowedModels: null,
    ...overrides,
  };
}

export function outcome(overrides: Partial<RequestOutcome> = {}): RequestOutcome {
  return {
    status: 200,
    result: 'ok',
    answeredBy: { model: 'acme/one', provider: 'acme', upstreamModel: 'one' },
    attempts: [{ provider: 'acme', model: 'one', status: 200, outcome: 'ok', ms: 12 }],
    usage: { ...NO_USAGE, input: 10, output: 5 },
    estimated: false,
    cost: 0,
    losses: [],
    overheadUs: 80,
    firstContentMs: 7,
    totalMs: 20,
    ...overrides,
  };
}

/** Starts of requests with ids of the fake clock's time. */
export function createStarts(
  clock: FakeClock,
): (overrides?: Partial<RequestStart>) => RequestStart {
  const ids = createIdSource(clock);
  return (overrides = {}) => ({
    id: ids.next('req'),
    at: clock.now(),
    principal: principal(),
    surface: 'chat',
    model: 'acme/one',
    stream: false,
    bound: 0,
    ...overrides,
  });
}

export interface FaultyStore extends Store {
  /** Commits made since the last look. */
  takeCommits(): readonly (readonly Op[])[];
  /** How the next commits go: `before` fails without an effect, `after` fails although it was made. */
  fail(how: 'before' | 'after' | undefined): void;
  /** Decides each commit: an error to reject with, nothing to let it through. */
  refuse: ((ops: readonly Op[]) => StoreError | undefined) | undefined;
  /** Runs before each commit; time for others to interfere. */
  interfere: (() => Promise<void> | void) | undefined;
}

/** A store that fails on demand. */
export function createFaultyStore(store: Store): FaultyStore {
  let how: 'before' | 'after' | undefined;
  let commits: (readonly Op[])[] = [];
  const failure = () => new StoreError('full', 'no space left');
  const faulty: FaultyStore = {
    ...store,
    refuse: undefined,
    interfere: undefined,
    takeCommits() {
      const taken = commits;
      commits = [];
      return taken;
    },
    fail(next) {
      how = next;
    },
    async commit(ops): Promise<CommitResult> {
      commits.push(ops);
      await faulty.interfere?.();
      const refusal = faulty.refuse?.(ops);
      if (refusal) throw refusal;
      if (how === 'before') throw failure();
      const result = await store.commit(ops);
      if (how === 'after') throw failure();
      return result;
    },
    async ping() {
      if (how !== undefined) throw failure();
      await store.ping();
    },
  };
  return faulty;
}

/** What becomes of a claim on a rate: known at once, or once the store has decided. */
export const decided = (claim: boolean | PendingClaim): boolean | Promise<boolean> =>
  typeof claim === 'boolean' ? claim : claim.decided;

/** The rates as their callers see them that wait for each claim by itself. */
export const decidedRates = (rates: RateLimiter) => ({
  isPlatformFull: () => rates.isPlatformFull(),
  admitPlatform: (caller: Caller) => decided(rates.admitPlatform(caller)),
  admitKey: (of: Principal) => decided(rates.admitKey(of)),
});

/** What became of a begin: `admitted`, or the code of the refusal. */
export async function fateOf(entry: LedgerEntry): Promise<string> {
  return codeOf(entry.admitted ?? entry.durable, 'admitted');
}

/** The error code that a promise rejects with. */
export async function codeOf(promise: unknown, fulfilled = 'fulfilled'): Promise<string> {
  try {
    await promise;
    return fulfilled;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

/** Lets everything that is due in this and the next few turns happen. */
export async function turns(count = 5): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Like {@link turns}, but none counts while files are read or written: the disk takes its own time, and a
 * fake clock that runs on meanwhile lets workers be late that were not.
 */
export async function quietTurns(count = 5): Promise<void> {
  for (let left = count; left > 0; left--) {
    await turns(1);
    if (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))) left = count + 1;
  }
}

/** Waits for answers that may be there already. */
export async function all<T>(answers: readonly (T | Promise<T>)[]): Promise<T[]> {
  return Promise.all(answers.map(async (answer) => answer));
}

export function nth<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`there is no item ${index}`);
  return item;
}
