import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/time/clock.ts';
import type { CommitResult, Entry, Key, Op, Store } from '../../store/store.ts';
import type { KeyHolder } from './key-tickets.ts';

/** Session of a browser that signed in with a key. */
export interface ConsoleSession extends KeyHolder {
  /** Milliseconds since epoch. */
  readonly expiresAt: number;
}

export interface NewSession extends ConsoleSession {
  /** Value of the cookie; the store keeps only its hash. */
  readonly secret: string;
}

/** Commits the operations of a session that begins or ends. */
export type SessionCommit = (ops: readonly Op[], id: string) => Promise<CommitResult>;

/** Sessions of browsers, and the links that open one, as rows of the store. All reject with `StoreError`. */
export interface ConsoleSessions {
  /** Opens a session of this key. @param commit default: that of the store */
  open(holder: KeyHolder, commit?: SessionCommit): Promise<NewSession>;
  /** Undefined for one that is over or was never there; using one makes it last. */
  use(secret: string): Promise<ConsoleSession | undefined>;
  close(secret: string, commit?: SessionCommit): Promise<void>;
  /** Word that opens one session of this key within {@link LINK_MS}. */
  makeLink(holder: KeyHolder): Promise<{ link: string; expiresAt: number }>;
  /** Key that a link is for; undefined when it is used or old. Uses it up. */
  takeLink(link: string): Promise<KeyHolder | undefined>;
}

/** Milliseconds. */
export const LINK_MS = 30_000;
export const SESSION_MS = 12 * 3_600_000;
const IDLE_MS = 2 * 3_600_000;
/** The end of a session moves in steps, so that not every call writes. */
const STEP_MS = 60_000;
const BYTES = 32;
/** Characters of the hash that tell sessions apart. */
const ID_CHARS = 16;
const SECRET = /^[\w-]{43}$/;

interface SessionRow extends KeyHolder {
  readonly openedAt: number;
  readonly expiresAt: number;
}

interface LinkRow extends KeyHolder {
  readonly expiresAt: number;
}

export interface ConsoleSessionsDeps {
  readonly store: Pick<Store, 'get' | 'commit'>;
  readonly clock: Clock;
}

export function createConsoleSessions({ store, clock }: ConsoleSessionsDeps): ConsoleSessions {
  const find = async <Row extends LinkRow>(
    key: Key | undefined,
  ): Promise<Entry<Row> | undefined> => {
    const entry = key && (await store.get<Row>(key));
    return entry && entry.value.expiresAt > clock.now() ? entry : undefined;
  };
  const prolong = async ({ key, value, version }: Entry<SessionRow>): Promise<number> => {
    const now = clock.now();
    const expiresAt = endOf(value.openedAt, now);
    if (expiresAt - value.expiresAt < STEP_MS) return value.expiresAt;
    const row: SessionRow = { ...value, expiresAt };
    const ttlMs = expiresAt - now;
    await store.commit([{ type: 'put', key, value: row, ttlMs, ifVersion: version }]);
    return expiresAt;
  };
  const commitAlone: SessionCommit = (ops) => store.commit(ops);
  return {
    async open({ key, value }, commit = commitAlone) {
      const secret = newSecret();
      const openedAt = clock.now();
      const expiresAt = endOf(openedAt, openedAt);
      const row: SessionRow = { ...holderOf({ key, value }), openedAt, expiresAt };
      const ttlMs = expiresAt - openedAt;
      await commit(
        [{ type: 'put', key: sessionKey(secret), value: row, ttlMs }],
        sessionIdOf(secret),
      );
      return { ...holderOf(row), secret, expiresAt };
    },
    async use(secret) {
      const entry = await find<SessionRow>(keyOf(secret, sessionKey));
      return entry && { ...holderOf(entry.value), expiresAt: await prolong(entry) };
    },
    async close(secret, commit = commitAlone) {
      await commit([{ type: 'delete', key: sessionKey(secret) }], sessionIdOf(secret));
    },
    async makeLink(holder) {
      const link = newSecret();
      const value: LinkRow = { ...holderOf(holder), expiresAt: clock.now() + LINK_MS };
      await store.commit([{ type: 'put', key: linkKey(link), value, ttlMs: LINK_MS }]);
      return { link, expiresAt: value.expiresAt };
    },
    async takeLink(link) {
      const entry = await find<LinkRow>(keyOf(link, linkKey));
      if (!entry) return undefined;
      const { key, value, version } = entry;
      // One of several who use it at once, on any node, has it.
      const { ok } = await store.commit([{ type: 'delete', key, ifVersion: version }]);
      return ok ? holderOf(value) : undefined;
    },
  };
}

/** Token that a page shows with every change; no page can make it of the cookie, which it cannot read. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url');
}

/** Name that tells sessions apart where people and pages read of them; no secret. */
export function sessionIdOf(secret: string): string {
  return hash(secret).slice(0, ID_CHARS);
}

export function isCsrfOf(secret: string, token: string | undefined): boolean {
  const [own, told] = [Buffer.from(csrfOf(secret)), Buffer.from(token ?? '')];
  return own.length === told.length && timingSafeEqual(own, told);
}

function endOf(openedAt: number, now: number): number {
  return Math.min(openedAt + SESSION_MS, now + IDLE_MS);
}

/** The part of a row that says whose it is. */
const holderOf = ({ key, value }: KeyHolder): KeyHolder =>
  value === undefined ? { key } : { key, value };

const newSecret = (): string => randomBytes(BYTES).toString('base64url');
const hash = (secret: string): string => createHash('sha256').update(secret).digest('base64url');
const sessionKey = (secret: string): Key => ['console', 'session', hash(secret)];
const linkKey = (link: string): Key => ['console', 'link', hash(link)];

/** Undefined for a secret of another form than those that are issued. */
function keyOf(secret: string, toKey: (secret: string) => Key): Key | undefined {
  return SECRET.test(secret) ? toKey(secret) : undefined;
}
