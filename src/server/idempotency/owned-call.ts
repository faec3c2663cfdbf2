import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Sealer } from '../../core/seal.ts';
import { isStoreTrouble } from '../../store/is-store-trouble.ts';
import type { CallAnswer, MadeThing, NamedCall } from '../../store/named-call.ts';
import { StoreError } from '../../store/store.ts';
import type { Key, Op, Store, Version } from '../../store/store.ts';
import { hasRoom, keepAnswer, toKeptAnswer } from './kept-answers.ts';
import type { CallOwner, CallPlace, CallTrace, NameRow } from './row.ts';
import { writeLater } from './write-later.ts';

export interface OwnedCallOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly key: Key;
  readonly place: CallPlace;
  /** Row as it was claimed. */
  readonly row: NameRow & { readonly owner: CallOwner };
  readonly version: Version;
  /** Receives errors of ends that could not be written. */
  readonly report: (error: unknown) => void;
  /** Runs once the last row of this attempt is written, or another attempt owns the name. */
  readonly onEnd: () => void;
}

type Row = Omit<NameRow, 'fingerprint' | 'rights'>;
type ToOps = (version: Version, row: Row) => Op[] | Promise<Op[]>;

/**
 * A call that is this process's to make. Exactly one of `finish`, `release` and `giveUp` is called, once.
 * Rows that they cannot write now are written when the store is well again.
 */
export class OwnedCall implements NamedCall {
  readonly type = 'own';
  readonly #options: OwnedCallOptions;
  #version: Version;
  #trace: CallTrace | undefined;
  /** Operations were given away, so only the store knows whether they were committed. */
  #isGiven = false;
  /** Answer that was given away with them. */
  #answer: CallAnswer | undefined;
  /** Bytes of the last answer for which there is room, or none. */
  #room: { readonly size: number; readonly fits: boolean } | undefined;

  constructor(options: OwnedCallOptions) {
    this.#options = options;
    this.#version = options.version;
    this.#trace = options.row.trace;
  }

  get earlier(): string | undefined {
    return this.#options.row.trace?.made;
  }

  /** Traces that remain when the outcome of the call stays unknown. */
  get trace(): CallTrace | undefined {
    return this.#trace;
  }

  async answered(answer: CallAnswer): Promise<readonly Op[]> {
    const version = await this.#toGive();
    this.#answer = answer;
    return this.#answerOps(answer, version);
  }

  async made({ id, lookUp }: MadeThing): Promise<readonly Op[]> {
    const ifVersion = await this.#toGive();
    const { owner } = this.#options.row;
    this.#trace = { request: owner.request, lookUp, made: id };
    return [this.#put({ owner, trace: this.#trace }, ifVersion)];
  }

  async willAct(lookUp?: string): Promise<void> {
    const { owner } = this.#options.row;
    const trace = traceOf(owner, lookUp);
    const ifVersion = await this.#toGive();
    const done = await this.#options.store.commit([this.#put({ owner, trace }, ifVersion)]);
    if (!done.ok) throw takenOver();
    this.#version = done.version;
    this.#trace = trace;
    this.#isGiven = false;
  }

  /** Keeps the answer for repeats; gives the one that they get, which may have been kept with the effect. */
  async finish(answer: CallAnswer): Promise<CallAnswer> {
    const isHeld = await this.#end((version) => this.#answerOps(answer, version));
    return isHeld ? answer : (this.#answer ?? answer);
  }

  /**
   * Releases the name, since the call had no outcome: a repeat starts over, or continues with the
   * object that was made. Resolves with false where this attempt no longer has the name.
   */
  release(): Promise<boolean> {
    return this.#end((version, { trace }) => {
      if (trace?.made !== undefined)
        return [this.#put({ owner: this.#teller ?? null, trace }, version)];
      return [{ type: 'delete', key: this.#options.key, ifVersion: version }];
    });
  }

  /** The outcome of the call is unknown for good: every repeat is answered so. */
  async giveUp(): Promise<void> {
    const own = traceOf(this.#options.row.owner);
    await this.#end((version, { trace = own }) => [this.#put({ trace, isUnknown: true }, version)]);
  }

  /** Owner of the call until its client has the answer, where it is known no longer than that. */
  get #teller(): CallOwner | undefined {
    const { place, row } = this.#options;
    return place.call === undefined ? undefined : row.owner;
  }

  #put(row: Row, ifVersion: Version): Op {
    const { key, place } = this.#options;
    const { fingerprint, rights } = this.#options.row;
    const value: NameRow = { fingerprint, ...(rights && { rights }), ...row };
    return { type: 'put', key, value, ttlMs: place.keepMs, ifVersion };
  }

  async #answerOps(answer: CallAnswer, ifVersion: Version): Promise<Op[]> {
    const { key, place, sealer, store } = this.#options;
    const kept = toKeptAnswer(answer);
    const size = kept.body?.length ?? 0;
    if (this.#room?.size !== size)
      this.#room = { size, fits: await hasRoom(size, place.organization, store) };
    const { head, ops } = keepAnswer(kept, { key, place, fits: this.#room.fits }, sealer);
    const owner = this.#teller;
    return [this.#put({ answer: head, ...(owner && { owner }) }, ifVersion), ...ops];
  }

  /** Version for operations that the handler commits; throws where the name was taken over. */
  async #toGive(): Promise<Version> {
    const held = await this.#held();
    if (!held) throw takenOver();
    this.#isGiven = true;
    return held.version;
  }

  /** Undefined where the name is not this attempt's any more, or was answered with its effect. */
  async #held(): Promise<{ version: Version; row: Row } | undefined> {
    const { store, key, row } = this.#options;
    const trace = this.#trace;
    if (!this.#isGiven) return { version: this.#version, row: trace ? { trace } : {} };
    const entry = await store.get<NameRow>(key);
    if (!entry || entry.value.answer) return undefined;
    if (entry.value.owner?.request !== row.owner.request) return undefined;
    return { version: entry.version, row: entry.value };
  }

  /** False where the name is not this attempt's any more. */
  async #end(toOps: ToOps): Promise<boolean> {
    const { store, report, onEnd } = this.#options;
    try {
      const held = await this.#held();
      const done = held && (await store.commit(await toOps(held.version, held.row)));
      onEnd();
      return done?.ok === true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      report(error);
      if (isStoreTrouble(error)) this.#endLater(toOps);
      else onEnd();
      return true;
    }
  }

  #endLater(toOps: ToOps): void {
    // The commit that failed may have been made all the same.
    this.#isGiven = true;
    writeLater(async () => {
      const held = await this.#held();
      if (held) await this.#options.store.commit(await toOps(held.version, held.row));
    }, this.#options);
  }
}

function traceOf(
  { request }: CallOwner,
  lookUp: string | undefined = `gateway logs ${request}`,
): CallTrace {
  return { request, lookUp };
}

/** Another process holds the name, or has answered the call by now: a repeat finds out. */
export function takenOver(): GatewayError {
  const message = 'the call of this Idempotency-Key is under way';
  const headers = { 'retry-after': '1' };
  return new GatewayError('conflict', { type: 'idempotency_in_progress', message, headers });
}
