import type { Key, Store } from '../../../store/store.ts';
import type { RpcId } from '../json-rpc.ts';

/** A request that its client may take back. */
export interface CancellableRequest {
  /** Aborted when it is taken back. */
  readonly signal: AbortSignal;
  /** Ends the watch: the call is answered or cancelled. */
  done(): void;
}

/**
 * Requests that clients took back (`notifications/cancelled`). The notice comes with a connection of its
 * own, so it goes through the store to the process that is at work on the request.
 */
export interface Cancellations {
  cancel(transport: string, request: RpcId): Promise<void>;
  watch(transport: string, request: RpcId): CancellableRequest;
}

/** A notice waits so long for a request that it has overtaken. */
const NOTICE_MS = 60_000;
const MAX_ID_CHARS = 200;

export function createCancellations(store: Store): Cancellations {
  return {
    async cancel(transport, request) {
      const key = keyOf(transport, request);
      if (key) await store.commit([{ type: 'put', key, value: true, ttlMs: NOTICE_MS }]);
    },
    watch(transport, request) {
      const cancelled = new AbortController();
      const key = keyOf(transport, request);
      if (!key) return { signal: cancelled.signal, done: () => undefined };
      const look = async (): Promise<void> => {
        if (cancelled.signal.aborted || !(await store.get(key))) return;
        cancelled.abort();
        await store.commit([{ type: 'delete', key }]);
      };
      // The request itself reports a store failure where it needs the store.
      const onChange = (): void => void look().catch(() => undefined);
      const done = store.watch(key, onChange);
      onChange();
      return { signal: cancelled.signal, done };
    },
  };
}

/**
 * Key of a request id as JSON, so that the number 1 is not the string "1". Undefined for a value
 * that no client uses as an id.
 */
function keyOf(transport: string, request: RpcId): Key | undefined {
  const id = JSON.stringify(request);
  return id.length > MAX_ID_CHARS ? undefined : ['mcp-cancelled', transport, id];
}
