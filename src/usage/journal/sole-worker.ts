import type { Clock, Timer } from '../../core/time/clock.ts';
import type { ProcessPlace } from '../../core/liveness.ts';
import type { Entry, Op, Store } from '../../store/store.ts';
import { ROSTER, rosterKey, SOLE } from '../ledger/ledger-keys.ts';
import type { RosterRow, WorkerLease } from '../ledger/worker-lease.ts';

/** Between two looks at a worker that is to step back. */
const LOOK_MS = 50;
/** Between two tries to become the only one. */
const TRY_MS = 5_000;
const MAX_WORKERS = 10_000;

/** The worker with exclusive mode, which decides limits; null while the store decides. */
interface SoleRow {
  readonly worker: string | null;
  /** Another one has come: it is to let the store decide. */
  readonly isAsked?: true;
}

export interface SoleWorkerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly worker: string;
  readonly lease: Pick<WorkerLease, 'isSure' | 'lapses' | 'isAlive' | 'renew'>;
  /** False: never. */
  readonly mayBeSole: boolean;
  isGone(place: ProcessPlace): boolean;
  /** Cleans up after workers that are dead. */
  recover(): Promise<unknown>;
  /** Knowledge of the store may be old here. */
  onBegin(): void;
  /** Others may have folded the journal and removed its files. */
  onReturn(): void;
  /** Stores everything that only this process knows; true when that is done. */
  onEnd(): Promise<boolean>;
  report(error: unknown): void;
}

/**
 * Exclusive mode of one worker on a host, which then decides limits in its memory and its journal instead of
 * the store. A worker that joins revokes the mode of another one, and waits for that.
 */
export class SoleWorker {
  readonly #options: SoleWorkerOptions;
  #isOwner = false;
  /** Times that this worker became the only one. */
  #terms = 0;
  /** Lapses of the lease when the others were last agreed with. */
  #lapses = -1;
  #entering: Promise<void> | undefined;
  #timer: Timer | undefined;
  #stopWatch: () => void = () => undefined;
  #stepping: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: SoleWorkerOptions) {
    this.#options = options;
  }

  /** True while surely no other worker serves; asked before and after each decision. */
  get isSole(): boolean {
    const { lease } = this.#options;
    // Others may have taken over from one that slept.
    if (this.#isOwner && (!lease.isSure() || lease.lapses !== this.#lapses)) this.#isOwner = false;
    return this.#isOwner;
  }

  /** True while our lease is valid and no other worker holds exclusive mode: others fold our journal. */
  get isKnown(): boolean {
    const { lease } = this.#options;
    return !this.#isClosed && lease.isSure() && lease.lapses === this.#lapses;
  }

  /** Number of the span without a gap for which this worker has been the only one; undefined: it is not. */
  get term(): number | undefined {
    return this.isSole ? this.#terms : undefined;
  }

  /**
   * Resolves when the store may decide: after a sleep another worker may hold exclusive mode. Undefined: at
   * once. Rejects with `StoreError`.
   */
  ready(): Promise<void> | undefined {
    const { lease } = this.#options;
    if (lease.isSure() && lease.lapses === this.#lapses) return undefined;
    return (this.#entering ??= this.#enterAgain().finally(() => (this.#entering = undefined)));
  }

  async #enterAgain(): Promise<void> {
    await this.#options.lease.renew();
    while (!(await this.#try())) await this.#wait(LOOK_MS);
  }

  /** Resolves when no other worker holds exclusive mode; call it before requests. Rejects with `StoreError`. */
  async enter(): Promise<void> {
    const { store, recover } = this.#options;
    await recover();
    while (!(await this.#try())) await this.#wait(LOOK_MS);
    this.#stopWatch = store.watch(SOLE, () => void this.#look());
    this.#schedule();
  }

  /** Lets the store decide, for good. Rejects with `StoreError`. */
  async leave(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#stopWatch();
    await this.#stepping;
    const row = await this.#options.store.get<SoleRow>(SOLE);
    this.#isOwner = false;
    if (row?.value.worker === this.#options.worker) await this.#put(row, { worker: null });
  }

  #schedule(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      const { mayBeSole, report } = this.#options;
      const work = this.isSole || !mayBeSole ? this.#look() : this.#try().then(() => undefined);
      work.catch(report).finally(() => {
        if (!this.#isClosed) this.#schedule();
      });
    }, TRY_MS);
  }

  /** True when no other worker holds exclusive mode; this worker takes it if it may. */
  async #try(): Promise<boolean> {
    const { store, worker, mayBeSole, lease, recover, onBegin, onReturn } = this.#options;
    const { lapses } = lease;
    const row = await store.get<SoleRow>(SOLE);
    const owner = row?.value.worker ?? null;
    if (owner !== null && owner !== worker) {
      const known = await store.get<RosterRow>(rosterKey(owner));
      if (known) {
        if (await this.#isDead(owner, known)) await recover();
        else if (row && !row.value.isAsked) await this.#put(row, { worker: owner, isAsked: true });
        return false;
      }
    }
    const isAlone = mayBeSole && !(await this.#hasOthers());
    // The first to come has to change the row, so that no worker becomes exclusive meanwhile.
    if (!isAlone && row && owner === null && this.#lapses === lapses) return true;
    if (!(await this.#put(row, { worker: isAlone ? worker : null }))) return false;
    if (isAlone) {
      this.#terms++;
      onBegin();
    } else if (this.#lapses !== lapses) onReturn();
    this.#lapses = lapses;
    this.#isOwner = isAlone;
    return true;
  }

  async #isDead(worker: string, { value }: Entry<RosterRow>): Promise<boolean> {
    const { lease, isGone } = this.#options;
    return (value?.place && isGone(value.place)) || !(await lease.isAlive(worker));
  }

  async #hasOthers(): Promise<boolean> {
    const { store, worker } = this.#options;
    const roster = await store.list({ prefix: ROSTER, limit: MAX_WORKERS });
    return roster.some(({ key }) => key[1] !== worker);
  }

  /** Steps back when another one asks. */
  async #look(): Promise<void> {
    this.#stepping ??= this.#stepBack()
      .catch(this.#options.report)
      .finally(() => (this.#stepping = undefined));
    return this.#stepping;
  }

  async #stepBack(): Promise<void> {
    const { store, worker, onEnd } = this.#options;
    const row = await store.get<SoleRow>(SOLE);
    if (row?.value.worker !== worker) return this.#lose();
    if (row.value.isAsked !== true) return;
    this.#isOwner = false;
    while (!this.#isClosed && !(await onEnd())) await this.#wait(LOOK_MS);
    await this.#put(row, { worker: null });
  }

  /** Joins again after others marked this worker as dead: their clock may have been set forward. */
  #lose(): void {
    if (this.#isOwner) this.#lapses = -1;
    this.#isOwner = false;
  }

  async #put(row: Entry<SoleRow> | undefined, value: SoleRow): Promise<boolean> {
    const condition = row ? { ifVersion: row.version } : { ifAbsent: true as const };
    const op: Op = { type: 'put', key: SOLE, value, ...condition };
    return (await this.#options.store.commit([op])).ok;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.setTimeout(resolve, ms));
  }
}
