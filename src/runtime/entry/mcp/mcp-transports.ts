import type { Clock } from '../../../core/time/clock.ts';
import type { IdSource } from '../../../core/ids.ts';
import type { Key, Store } from '../../../store/store.ts';

/** Owner of a transport session. */
export interface TransportOwner {
  readonly organization: string;
  /** Service. */
  readonly endpoint: string;
}

/** Session of one MCP client. */
export interface McpTransport {
  readonly id: string;
  /** Revision that was agreed upon; undefined for one of a gateway that kept none. */
  readonly version: string | undefined;
  /** The client shows forms to its user. */
  readonly takesForms?: boolean | undefined;
}

interface TransportRow extends TransportOwner, Partial<Omit<McpTransport, 'id'>> {
  /** Milliseconds since epoch. */
  readonly usedAt: number;
}

/**
 * MCP sessions of clients, each a row of the store, so that any process serves any request of it.
 * One that was not used for a day is forgotten; its client initializes again.
 */
export interface McpTransports {
  /** The new `Mcp-Session-Id`. */
  open(owner: TransportOwner, agreed: Omit<McpTransport, 'id'>): Promise<string>;
  /** Undefined for one that is unknown, closed or of another owner. */
  use(id: string, owner: TransportOwner): Promise<McpTransport | undefined>;
  /** False for one that `use` does not find. */
  close(id: string, owner: TransportOwner): Promise<boolean>;
  /** Calls back when it may have been closed, on whichever process. */
  watch(id: string, onChange: () => void): () => void;
}

const IDLE_MS = 24 * 60 * 60 * 1_000;
/** A row is written again when it is this old, not at every use. */
const RENEW_MS = IDLE_MS / 2;
const MAX_ID_CHARS = 100;

const keyOf = (id: string): Key => ['mcp-transport', id];

export function createMcpTransports({
  store,
  clock,
  ids,
}: {
  store: Store;
  clock: Clock;
  ids: IdSource;
}): McpTransports {
  const put = (id: string, row: Omit<TransportRow, 'usedAt'>) => ({
    type: 'put' as const,
    key: keyOf(id),
    value: { ...row, usedAt: clock.now() } satisfies TransportRow,
    ttlMs: IDLE_MS,
  });
  const find = async (id: string, { organization, endpoint }: TransportOwner) => {
    if (id.length > MAX_ID_CHARS) return undefined;
    const entry = await store.get<TransportRow>(keyOf(id));
    const isOwn = entry?.value.organization === organization && entry.value.endpoint === endpoint;
    return isOwn ? entry : undefined;
  };
  return {
    async open({ organization, endpoint }, { version, takesForms }) {
      const id = ids.next('mcp');
      await store.commit([put(id, { organization, endpoint, version, takesForms })]);
      return id;
    },
    async use(id, owner) {
      const entry = await find(id, owner);
      if (!entry) return undefined;
      // Lost against another use, or against the end: either way there is nothing to renew.
      if (Math.abs(clock.now() - entry.value.usedAt) > RENEW_MS)
        await store.commit([{ ...put(id, entry.value), ifVersion: entry.version }]);
      const { version, takesForms } = entry.value;
      return { id, version, takesForms };
    },
    async close(id, owner) {
      const entry = await find(id, owner);
      if (!entry) return false;
      await store.commit([{ type: 'delete', key: entry.key }]);
      return true;
    },
    watch: (id, onChange) => store.watch(keyOf(id), onChange),
  };
}
