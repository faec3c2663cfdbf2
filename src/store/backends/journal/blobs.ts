import { reasonOf } from '../../../core/errors.ts';
import { createHash } from 'node:crypto';
import type { Driver } from 'unstorage';
import { systemClock } from '../../../core/time/clock.ts';
import { newerFormat } from '../../store-meta.ts';
import { StoreError } from '../../store.ts';
import { FORMAT } from './migrations.ts';

const KINDS = ['journal', 'snapshot', 'part', 'lock'] as const;

export type BlobKind = (typeof KINDS)[number];

export interface BlobName {
  readonly name: string;
  readonly kind: BlobKind;
  readonly number: number;
  readonly owner: string;
}

/** Text blobs with a checksum, each written once, on any unstorage driver. */
export interface Blobs {
  /** Every blob of the store, by kind and ascending number. */
  list(): Promise<BlobName[]>;
  /** Undefined for a blob that is missing, torn or damaged. Rejects with `newer_format`. */
  read(name: string): Promise<string | undefined>;
  /** The text of a blob whose checksum does not hold; undefined for one that is missing or has no head. */
  readBroken(name: string): Promise<string | undefined>;
  /** The format that a blob was written in; undefined and rejections as with `read`. */
  formatOf(name: string): Promise<number | undefined>;
  /**
   * Sets the format that is written from now on; it is {@link FORMAT} unless the store is still of
   * an older one.
   */
  useFormat(format: number): void;
  write(name: string, body: string): Promise<void>;
  remove(name: string): Promise<void>;
  dispose(): Promise<void>;
}

const MAGIC = 'gateway-store';
const HEAD = /^gateway-store (\d+) ([0-9a-f]{32})\n/;
/** No separators, no `$`: drivers read those in ways of their own. */
const NAME = /(?:^|[:/])((journal|snapshot|part|lock)-(\d{12})-([0-9a-f]{8})(?:-\d{6})?)$/;
const TIMEOUT_MS = 30_000;

export function blobName(kind: BlobKind, number: number, owner: string): string {
  return `${kind}-${String(number).padStart(12, '0')}-${owner}`;
}

export function createBlobs(driver: Driver): Blobs {
  let format = FORMAT;
  const frameOf = async (name: string): Promise<Frame | undefined> =>
    fromFrame(await call('read', () => driver.getItem(name, {})));
  return {
    async list() {
      const keys = await call('list blobs', () => driver.getKeys('', {}));
      return keys.flatMap(toBlobName).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    read: async (name) => (await frameOf(name))?.body,
    async readBroken(name) {
      const text = toText(await call('read', () => driver.getItem(name, {})));
      const head = text === undefined ? undefined : HEAD.exec(text);
      return head ? text?.slice(head[0].length) : undefined;
    },
    formatOf: async (name) => (await frameOf(name))?.format,
    useFormat: (next) => void (format = next),
    async write(name, body) {
      await call('write', () => {
        if (!driver.setItem) throw new StoreError('read_only', 'this storage driver cannot write');
        return driver.setItem(name, toFrame(body, format), {});
      });
    },
    async remove(name) {
      await call('remove', () => driver.removeItem?.(name, {}));
    },
    async dispose() {
      await call('close', () => driver.dispose?.());
    },
  };
}

function toBlobName(key: string): BlobName[] {
  const match = NAME.exec(key);
  if (!match) return [];
  const [, name = '', word, number, owner = ''] = match;
  const kind = KINDS.find((kind) => kind === word);
  return kind ? [{ name, kind, number: Number(number), owner }] : [];
}

/** The head keeps drivers that parse JSON from taking the text for a value. */
function toFrame(body: string, format: number): string {
  return `${MAGIC} ${format} ${checksum(body)}\n${body}`;
}

interface Frame {
  readonly format: number;
  readonly body: string;
}

function fromFrame(item: unknown): Frame | undefined {
  const text = toText(item);
  if (text === undefined) return undefined;
  const head = HEAD.exec(text);
  if (!head) return undefined;
  const format = Number(head[1]);
  if (format > FORMAT) throw newerFormat(format, FORMAT, 'the stored data');
  const body = text.slice(head[0].length);
  return checksum(body) === head[2] ? { format, body } : undefined;
}

function toText(item: unknown): string | undefined {
  if (item instanceof Uint8Array) return Buffer.from(item).toString();
  return typeof item === 'string' ? item : undefined;
}

function checksum(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 32);
}

/** One call of the driver: bounded in time, any failure a `StoreError`. */
async function call<R>(what: string, action: () => R | Promise<R>): Promise<R> {
  let expire: (error: Error) => void;
  const expired = new Promise<never>((_, reject) => (expire = reject));
  // Real time, whatever the store's clock says: the driver is waited for.
  const timer = systemClock.setTimeout(
    () => expire(new Error(`no answer within ${TIMEOUT_MS / 1_000} s`)),
    TIMEOUT_MS,
  );
  try {
    const result = await Promise.race([Promise.resolve().then(action), expired]);
    // The fs driver returns some of its errors instead of throwing them.
    if (result instanceof Error) throw result;
    return result;
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw toStoreError(what, cause);
  } finally {
    timer.cancel();
  }
}

function toStoreError(what: string, cause: unknown): StoreError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const reason = reasonOf(cause);
  const message = `the storage driver could not ${what}: ${reason}`;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new StoreError('full', message, { cause });
  }
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new StoreError('read_only', message, { cause });
  }
  return new StoreError('unavailable', message, { cause });
}
