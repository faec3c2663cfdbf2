import { rm } from 'node:fs/promises';
import type { Clock } from '../../core/time/clock.ts';
import type { Store } from '../../store/store.ts';
import { createDeadFence, WorkerWoke } from '../ledger/fence.ts';
import { ELSEWHERE } from '../ledger/flights.ts';
import { JobQueue } from '../ledger/job-queue.ts';
import { limitedScopes } from '../spend/payer.ts';
import { createCall, createJob, endedWith, halvesOf, payersOf } from '../ledger/ledger-call.ts';
import type { Batch, LedgerCall } from '../ledger/ledger-call.ts';
import { isRefused, LedgerCommitter } from '../ledger/ledger-committer.ts';
import { requestKey, scopeName } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import type { Principal } from '../principal.ts';
import type { Payer } from '../spend/payer.ts';
import { planJobs } from '../ledger/ledger-plan.ts';
import type { LedgerState, PlannedWork } from '../ledger/ledger-plan.ts';
import { createState } from '../ledger/ledger-state.ts';
import { claimedAfter } from '../rates/claims.ts';
import { RateWindow } from '../rates/rate-window.ts';
import type { StartRow } from '../requests/request-row.ts';
import { windowsOf } from '../spend/spend.ts';
import { factsOf } from '../sums/totals.ts';
import type { BeginLine, ClaimLine, JournalCall } from './journal-line.ts';
import { findSegments, readSegment } from './read-segments.ts';
import type { NumberedLine } from './read-segments.ts';

/** Sentinel for the number of takeovers: the stored rows of the call are looked up. */
const UNKNOWN = -1;
/** Flights of one worker have numbers of their own; those of its journal follow. */
const FLIGHTS_PER_MS = 1_000;

export interface DeadJournal {
  readonly store: Store;
  readonly clock: Clock;
  /** Its fence says that it is dead. */
  readonly worker: string;
}

/**
 * Stores what only the journal of a dead worker holds, and removes the journal. Each commit moves the
 * number in the worker's fence, so that a line is stored once, however often and by however many this is
 * done. False when the worker woke. Rejects with `StoreError`.
 */
export async function foldJournal(dead: DeadJournal): Promise<boolean> {
  const { store, worker } = dead;
  if (store.folder === undefined) return true;
  const paths = await findSegments(store.folder, worker);
  if (paths.length === 0) return true;
  const state = stateOf(dead);
  const fence = createDeadFence(store, worker);
  const committer = new LedgerCommitter({ store, state, fence, onLanded: () => undefined });
  try {
    await committer.reconcile();
    state.slices.takeOver();
    await state.slices.load(store);
    for (const path of paths) {
      const lines = await readSegment(path, committer.folded);
      const queue = await queueOf(dead, lines, state);
      for (let batch = queue.shift(); batch; batch = queue.shift())
        await commit(batch, { state, committer });
      await rm(path, { force: true });
    }
    return true;
  } catch (error) {
    if (error instanceof WorkerWoke) return false;
    throw error;
  }
}

function stateOf({ store, clock, worker }: DeadJournal): LedgerState {
  let flights = clock.now() * FLIGHTS_PER_MS;
  return { ...createState({ store, clock, worker }), nextFlight: () => ++flights };
}

interface Writing {
  readonly state: LedgerState;
  readonly committer: LedgerCommitter;
}

async function commit(batch: Batch, { state, committer }: Writing): Promise<void> {
  const rest = (): PlannedWork => {
    const { folded } = committer;
    const jobs = batch.jobs.filter(({ number }) => number > folded);
    return { jobs, claims: claimedAfter(folded, batch.claims), asked: [] };
  };
  try {
    await committer.commit({
      last: batch.last,
      ending: () => rest().jobs.flatMap(({ type, call }) => (type === 'settle' ? [call] : [])),
      scopes: () => rest().jobs.flatMap(({ call }) => limitedScopes(call)),
      windows: () => rest().claims.keys(),
      plan: () => planJobs(state, rest()),
    });
  } catch (error) {
    if (!isRefused(error)) throw error;
    // Only the line that no store takes is left out.
    for (const half of halvesOf(batch)) await commit(half, { state, committer });
  }
}

/** Work that the lines are, in their order. */
async function queueOf(
  dead: DeadJournal,
  lines: readonly NumberedLine[],
  { slices }: LedgerState,
): Promise<JobQueue> {
  const queue = new JobQueue(dead.clock, () => undefined);
  const ended = new Set(lines.flatMap(({ line }) => (line.type === 'end' ? [line.id] : [])));
  const calls = new Map<string, LedgerCall>();
  const windows = new Map<string, RateWindow>();
  for (const { number, line } of lines) {
    if (line.type === 'claim') {
      queue.addClaim(windowFor(windows, line, dead), { ...line, number });
      continue;
    }
    if (line.type === 'begin') {
      // Closed already: nothing is open any more.
      if (!ended.has(line.id) && (await dead.store.get(requestKey(line.id)))) continue;
      const call = begunCall(line);
      calls.set(line.id, call);
      slices.adopt(call);
      queue.add({ ...createJob('begin', call), number, isPending: true });
    } else {
      const call = calls.get(line.id) ?? toCall(line, line.record[0]);
      call.ended = endedWith(line.record, factsOf(line.record, call.windows.day));
      queue.add({ ...createJob('settle', call), number });
    }
  }
  return queue;
}

function begunCall(line: BeginLine): LedgerCall {
  const call = toCall(line, line.start);
  const { input, cost } = line;
  return { ...call, start: { ...call.start, estimate: { input, output: 0, cost } } };
}

/** A call as its line describes it; its stored rows are looked up when it ends. */
function toCall({ id, bound, tokens, limited }: JournalCall, start: StartRow): LedgerCall {
  const [at, organizationId, keyId, keyName, surface, model, stream, alias, origin] = start;
  const principal = {
    keyId,
    keyName,
    organizationId,
    organizationEnabled: true,
    scopes: null,
    keySpend: null,
    organizationSpend: null,
    rpmCap: null,
    concurrencyCap: null,
    allowedModels: null,
  };
  const told = { alias: alias ?? undefined, origin: origin ?? undefined };
  const facts = { id, at, principal, surface, model, stream, bound, tokens, ...told };
  const call = createCall(facts, windowsOf(at), payersIn(principal, limited));
  return { ...call, flight: ELSEWHERE, takeovers: UNKNOWN };
}

/** Payers of a call that was let in: no amount is compared any more. */
function payersIn(principal: Principal, limited: readonly Scope[]): Payer[] {
  const names = new Set(limited.map(scopeName));
  const owners = payersOf(principal).filter(({ scope }) => !names.has(scopeName(scope)));
  const limits = { lifetime: Infinity };
  return [
    ...owners,
    ...limited.map((scope): Payer => ({ scope, limits, refusal: 'key_spending_limit' })),
  ];
}

function windowFor(
  windows: Map<string, RateWindow>,
  { window: name }: ClaimLine,
  { store, clock }: DeadJournal,
): RateWindow {
  const text = JSON.stringify(name);
  let window = windows.get(text);
  if (!window) {
    const look = () => ({ wall: clock.now(), elapsed: clock.monotonic(), steppedAt: -Infinity });
    windows.set(text, (window = new RateWindow({ store, look, name })));
  }
  return window;
}
