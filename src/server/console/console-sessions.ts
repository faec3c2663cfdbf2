import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/time/clock.ts';
import type { Entry, Key, Store } from '../../store/store.ts';

/** Session of a browser that signed in with a key. */
export interface ConsoleSession {
  /** Id of the key. */
  readonly key: string;
  /** Milliseconds since epoch. */
  readonly expiresAt: number;
}

export interface NewSession extends ConsoleSession {
  /** Value of the cookie; the store has its hash alone. */
  readonly secret: string;
}

/** Sessions of browsers, and the links that open one, as rows of the store. All reject with `StoreError`. */
export interface ConsoleSessions {
  /** Opens a session of this key. */
  open(key: string): Promise<NewSession>;
  /** Undefined for one that is over or was never there; using one makes it last. */
  use(secret: string): Promise<ConsoleSession | undefined>;
  close(secret: string): Promise<void>;
  /** Word that opens one session of this key within {@link LINK_MS}. */
  makeLink(key: string): Promise<{ link: string; expiresAt: number }>;
  /** Id of the key that a link is for; undefined when it is used or old. Uses it up. */
  takeLink(link: string): Promise<string | undefined>;
}

/** Milliseconds. */
export const LINK_MS = 30_000;
export const SESSION_MS = 12 * 3_600_000;
const IDLE_MS = 2 * 3_600_000;
/** The end of a session moves in steps, so that not every call writes. */
const STEP_MS = 60_000;
const BYTES = 32;
const SECRET = /^[\w-]{43}$/;

interface SessionRow {
  readonly key: string;
  readonly openedAt: number;
  readonly expiresAt: number;
}

interface LinkRow {
  readonly key: string;
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
  return {
    async open(key) {
      const secret = newSecret();
      const openedAt = clock.now();
      const value: SessionRow = { key, openedAt, expiresAt: endOf(openedAt, openedAt) };
      const ttlMs = value.expiresAt - openedAt;
      await store.commit([{ type: 'put', key: sessionKey(secret), value, ttlMs }]);
      return { key, secret, expiresAt: value.expiresAt };
    },
    async use(secret) {
      const entry = await find<SessionRow>(keyOf(secret, sessionKey));
      return entry && { key: entry.value.key, expiresAt: await prolong(entry) };
    },
    async close(secret) {
      await store.commit([{ type: 'delete', key: sessionKey(secret) }]);
    },
    async makeLink(key) {
      const link = newSecret();
      const value: LinkRow = { key, expiresAt: clock.now() + LINK_MS };
      await store.commit([{ type: 'put', key: linkKey(link), value, ttlMs: LINK_MS }]);
      return { link, expiresAt: value.expiresAt };
    },
    async takeLink(link) {
      const entry = await find<LinkRow>(keyOf(link, linkKey));
      if (!entry) return undefined;
      const { key, value, version } = entry;
      // Of several who use it at once, on any node, one has it.
      const { ok } = await store.commit([{ type: 'delete', key, ifVersion: version }]);
      return ok ? value.key : undefined;
    },
  };
}

/** Token that a page shows with every change; no page can make it of the cookie, which it cannot read. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url');
}

export function isCsrfOf(secret: string, token: string | undefined): boolean {
  const [own, told] = [Buffer.from(csrfOf(secret)), Buffer.from(token ?? '')];
  return own.length === told.length && timingSafeEqual(own, told);
}

function endOf(openedAt: number, now: number): number {
  return Math.min(openedAt + SESSION_MS, now + IDLE_MS);
}

const newSecret = (): string => randomBytes(BYTES).toString('base64url');
const hash = (secret: string): string => createHash('sha256').update(secret).digest('base64url');
const sessionKey = (secret: string): Key => ['console', 'session', hash(secret)];
const linkKey = (link: string): Key => ['console', 'link', hash(link)];

/** Undefined for what was never given out. */
function keyOf(secret: string, toKey: (secret: string) => Key): Key | undefined {
  return SECRET.test(secret) ? toKey(secret) : undefined;
}
