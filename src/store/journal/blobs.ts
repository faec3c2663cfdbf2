import { createHash } from 'node:crypto';
import type { Driver } from 'unstorage';
import { systemClock } from '../../core/clock.ts';
import { StoreError } from '../store.ts';

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
  /** Undefined for what is missing, torn or damaged. Rejects with `newer_format`. */
  read(name: string): Promise<string | undefined>;
  write(name: string, body: string): Promise<void>;
  remove(name: string): Promise<void>;
  dispose(): Promise<void>;
}

const MAGIC = 'gateway-store';
const FORMAT = 1;
const HEAD = /^gateway-store (\d+) ([0-9a-f]{32})\n/;
/** No separators, no `$`: drivers read those in ways of their own. */
const NAME = /(?:^|[:/])((journal|snapshot|part|lock)-(\d{12})-([0-9a-f]{8})(?:-\d{6})?)$/;
const TIMEOUT_MS = 30_000;

export function blobName(kind: BlobKind, number: number, owner: string): string {
  return `${kind}-${String(number).padStart(12, '0')}-${owner}`;
}

export function createBlobs(driver: Driver): Blobs {
  return {
    async list() {
      const keys = await call('list blobs', () => driver.getKeys('', {}));
      return keys.flatMap(toBlobName).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    async read(name) {
      return fromFrame(await call('read', () => driver.getItem(name, {})));
    },
    async write(name, body) {
      await call('write', () => {
        if (!driver.setItem) throw new StoreError('read_only', 'this storage driver cannot write');
        return driver.setItem(name, toFrame(body), {});
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
function toFrame(body: string): string {
  return `${MAGIC} ${FORMAT} ${checksum(body)}\n${body}`;
}

function fromFrame(item: unknown): string | undefined {
  const text = item instanceof Uint8Array ? Buffer.from(item).toString() : item;
  if (typeof text !== 'string') return undefined;
  const head = HEAD.exec(text);
  if (!head) return undefined;
  if (Number(head[1]) > FORMAT) {
    throw new StoreError(
      'newer_format',
      `the stored data has format ${head[1]}, this release knows up to ${FORMAT}; use the release that wrote it`,
    );
  }
  const body = text.slice(head[0].length);
  return checksum(body) === head[2] ? body : undefined;
}

function checksum(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 32);
}

/** One call of the driver: bounded in time, any failure a `StoreError`. */
async function call<R>(what: string, action: () => R | Promise<R>): Promise<R> {
  let expire: (error: Error) => void;
  const expired = new Promise<never>((_, reject) => (expire = reject));
  // In real time whatever the store's clock says: this is about the driver.
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
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `the storage driver could not ${what}: ${reason}`;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new StoreError('full', message, { cause });
  }
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new StoreError('read_only', message, { cause });
  }
  return new StoreError('unavailable', message, { cause });
}
