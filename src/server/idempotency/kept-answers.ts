import { Buffer } from 'node:buffer';
import type { Sealer } from '../../core/seal.ts';
import type { CallAnswer } from '../../store/named-call.ts';
import type { Key, Op, Store } from '../../store/store.ts';
import type { CallPlace, KeptHead } from './row.ts';

/** An answer as it is kept. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface KeptAnswersDeps {
  readonly store: Store;
  readonly sealer: Sealer;
}

/** Most bytes of one answer. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Bytes of one sealed part, whose base64 has to fit into a value of the store. */
const PART_BYTES = 8 * 1024 * 1024;
/** Most bytes of all answers of an organization that begin to be kept within a day. */
const MAX_DAILY_BYTES = 512 * 1024 * 1024;
const DAY_MS = 86_400_000;

export function toKeptAnswer({ status, headers = {}, body }: CallAnswer): KeptAnswer {
  if (body === undefined || Buffer.isBuffer(body)) return { status, headers, body };
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** True where the organization may keep so much more. Rejects with `StoreError`. */
export async function hasRoom(
  size: number,
  organization: string,
  store: Pick<Store, 'increment'>,
): Promise<boolean> {
  if (size > MAX_ANSWER_BYTES) return false;
  const budget: Key = ['idempotency-bytes', organization];
  return (await store.increment(budget, size, { ttlMs: DAY_MS })) <= MAX_DAILY_BYTES;
}

export interface Keeping {
  readonly key: Key;
  readonly place: CallPlace;
  /** False: the answer is known to have been given, and is not kept. */
  readonly fits: boolean;
}

/** Head of the answer for the row, and the operations that write its body. */
export function keepAnswer(
  { status, headers, body }: KeptAnswer,
  { key, place, fits }: Keeping,
  sealer: Sealer,
): { head: KeptHead; ops: Op[] } {
  const parts = fits && body ? toParts(body) : [];
  const hasBody = body !== undefined;
  return {
    head: { status, headers, hasBody, parts: fits ? parts.length : null },
    ops: parts.map((part, index): Op => {
      // Answers may hold anyone's content, or a secret.
      const value = sealer.seal(part.toString('base64'), sealPlace(key, index));
      return { type: 'put', key: partKey(key, index), value, ttlMs: place.keepMs };
    }),
  };
}

/** Undefined for one whose body is not there. Rejects with `StoreError`. */
export async function readAnswer(
  key: Key,
  { status, headers, hasBody, parts }: KeptHead,
  { store, sealer }: KeptAnswersDeps,
): Promise<KeptAnswer | undefined> {
  if (parts === null) return undefined;
  if (!hasBody) return { status, headers, body: undefined };
  const pieces: Buffer[] = [];
  for (let index = 0; index < parts; index++) {
    const found = await store.get<string>(partKey(key, index));
    if (!found) return undefined;
    pieces.push(Buffer.from(sealer.open(found.value, sealPlace(key, index)), 'base64'));
  }
  return { status, headers, body: Buffer.concat(pieces) };
}

/** Operations that drop the body of an answer. */
export function dropAnswer(key: Key, { parts }: KeptHead): Op[] {
  return Array.from({ length: parts ?? 0 }, (_, index) => ({
    type: 'delete',
    key: partKey(key, index),
  }));
}

function toParts(body: Buffer): Buffer[] {
  const count = Math.ceil(body.length / PART_BYTES);
  return Array.from({ length: count }, (_, index) =>
    body.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  );
}

const partKey = ([, ...place]: Key, index: number): Key => ['idempotency-part', ...place, index];

const sealPlace = (key: Key, index: number): string => `idempotency/${key.join('/')}/${index}`;
