import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Clock, Timer } from '../core/clock.ts';
import type { Sealer } from '../core/seal.ts';
import { StoreError } from '../store/store.ts';
import type { Key, Op, Store, Version } from '../store/store.ts';

/** An answer as it went to the client, without what names its request. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Where a call belongs: nobody else meets its records. */
export interface CallPlace {
  readonly organization: string;
  /** Id of the API key: one with fewer rights must not read what another was answered. */
  readonly key: string;
  readonly path: string;
  /** What the client named the call. */
  readonly name: string;
  /** How long its answer is kept. */
  readonly keepMs: number;
  /** True for a call that is no repeat of an answered one, however alike. */
  readonly isFirst: boolean;
}

/** A call that is now this worker's to make; exactly one of the two is called, once. */
export interface OwnedCall {
  readonly type: 'own';
  /** Keeps the answer for repeats. What cannot be written is not kept; the answer stands all the same. */
  finish(answer: KeptAnswer): Promise<void>;
  /** Nothing came of it: a repeat makes the call anew. */
  release(): Promise<void>;
}

export type Claim =
  | OwnedCall
  | { readonly type: 'answered'; readonly answer: KeptAnswer }
  /** It was answered, and the answer was too much to keep. */
  | { readonly type: 'forgotten' }
  | { readonly type: 'other-body' }
  | { readonly type: 'under-way' };

export interface IdempotencyRecords {
  /** Rejects with `StoreError`. */
  claim(place: CallPlace, fingerprint: string): Promise<Claim>;
  /** Calls `listener` at changes of the record, and now and then for nothing. */
  watch(place: CallPlace, listener: () => void): () => void;
}

export interface RecordsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Told of answers that could not be kept. */
  report(error: unknown): void;
}

/** Of a worker that died the call is anyone's after this. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;
/** Of one answer. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Of one sealed part, whose base64 has to fit into a value of the store. */
const PART_BYTES = 8 * 1024 * 1024;
/** Of all answers of an organization that begin to be kept within a day. */
const MAX_DAILY_BYTES = 512 * 1024 * 1024;
const DAY_MS = 86_400_000;

interface Row {
  readonly fingerprint: string;
  /** Absent: under way. */
  readonly answer?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly hasBody: boolean;
    /** How many sealed parts hold the body; null for one that was not kept. */
    readonly parts: number | null;
  };
}

/** Calls that name themselves, in the store; what is kept expires by itself. */
export function createIdempotencyRecords(deps: RecordsDeps): IdempotencyRecords {
  const { store } = deps;
  return {
    async claim(place, fingerprint) {
      const key = keyOf(place);
      const found = await store.get<Row>(key);
      if (found === undefined || (place.isFirst && found.value.answer)) {
        const value: Row = { fingerprint };
        const condition = found ? { ifVersion: found.version } : { ifAbsent: true as const };
        const done = await store.commit([
          { type: 'put', key, value, ttlMs: LEASE_MS, ...condition },
        ]);
        if (!done.ok) return { type: 'under-way' };
        return own({ key, place, fingerprint, version: done.version }, deps);
      }
      const { answer } = found.value;
      if (found.value.fingerprint !== fingerprint) return { type: 'other-body' };
      if (!answer) return { type: 'under-way' };
      const body = await readBody(key, answer, deps);
      if (body === null) return { type: 'forgotten' };
      const { status, headers } = answer;
      return { type: 'answered', answer: { status, headers, body } };
    },
    watch: (place, listener) => store.watch(keyOf(place), listener),
  };
}

interface Held {
  readonly key: Key;
  readonly place: CallPlace;
  readonly fingerprint: string;
  readonly version: Version;
}

type Writing = (ifVersion: Version) => Op[] | Promise<Op[]>;

function own(held: Held, deps: RecordsDeps): OwnedCall {
  const { store, clock, report } = deps;
  const { key, fingerprint } = held;
  let version: Version | undefined = held.version;
  let last: Promise<void> = Promise.resolve();
  let timer: Timer;
  /** One after the other; whoever lost the lease leaves the record alone. */
  const write = (toWrite: Writing): Promise<void> => (last = writeAfter(last, toWrite));
  const writeAfter = async (before: Promise<void>, toWrite: Writing): Promise<void> => {
    await before;
    if (version === undefined) return;
    try {
      const done = await store.commit(await toWrite(version));
      version = done.ok ? done.version : undefined;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      report(error);
    }
  };
  const renew = (): void => {
    timer = clock.setTimeout(() => {
      const value: Row = { fingerprint };
      void write((ifVersion) => [{ type: 'put', key, value, ttlMs: LEASE_MS, ifVersion }]);
      renew();
    }, RENEW_MS);
  };
  renew();
  return {
    type: 'own',
    finish(answer) {
      timer.cancel();
      return write((ifVersion) => toOps(answer, { ...held, ifVersion }, deps));
    },
    release() {
      timer.cancel();
      return write((ifVersion) => [{ type: 'delete', key, ifVersion }]);
    },
  };
}

async function toOps(
  { status, headers, body }: KeptAnswer,
  { key, place, fingerprint, ifVersion }: Held & { ifVersion: Version },
  { store, sealer }: RecordsDeps,
): Promise<Op[]> {
  const { keepMs: ttlMs } = place;
  const size = body?.length ?? 0;
  const budget: Key = ['idempotency-bytes', place.organization];
  const fits =
    size <= MAX_ANSWER_BYTES &&
    (await store.increment(budget, size, { ttlMs: DAY_MS })) <= MAX_DAILY_BYTES;
  const parts = fits && body ? toParts(body) : [];
  const hasBody = body !== undefined;
  const answer = { status, headers, hasBody, parts: fits ? parts.length : null };
  const value: Row = { fingerprint, answer };
  return [
    { type: 'put', key, value, ttlMs, ifVersion },
    ...parts.map((part, index): Op => {
      // What was answered may be anyone's content, or a secret.
      const sealed = sealer.seal(part.toString('base64'), placeOf(key, index));
      return { type: 'put', key: partKey(key, index), value: sealed, ttlMs };
    }),
  ];
}

function toParts(body: Buffer): Buffer[] {
  const count = Math.ceil(body.length / PART_BYTES);
  return Array.from({ length: count }, (_, index) =>
    body.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  );
}

/** Null for one that is not there. */
async function readBody(
  key: Key,
  { hasBody, parts }: NonNullable<Row['answer']>,
  { store, sealer }: RecordsDeps,
): Promise<Buffer | undefined | null> {
  if (parts === null) return null;
  if (!hasBody) return undefined;
  const pieces: Buffer[] = [];
  for (let index = 0; index < parts; index++) {
    const found = await store.get<string>(partKey(key, index));
    if (!found) return null;
    pieces.push(Buffer.from(sealer.open(found.value, placeOf(key, index)), 'base64'));
  }
  return Buffer.concat(pieces);
}

/** Names and paths may be long; their digest is not. */
function keyOf({ organization, key, path, name }: CallPlace): Key {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, path, name]))
    .digest('base64url');
  return ['idempotency', organization, digest];
}

const partKey = ([, organization = '', digest = '']: Key, index: number): Key => [
  'idempotency-part',
  organization,
  digest,
  index,
];

const placeOf = (key: Key, index: number): string => `idempotency/${key.join('/')}/${index}`;
