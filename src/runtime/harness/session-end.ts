import { sessionKey } from '../../sessions/session-row.ts';
import type { SessionRow } from '../../sessions/session-row.ts';
import type { Store } from '../../store/store.ts';

/** True when no turn of the Session will ever run again. Rejects with `StoreError`. */
export async function hasEnded(store: Store, sessionId: string): Promise<boolean> {
  const row = (await store.get<SessionRow>(sessionKey(sessionId)))?.value;
  return !row || row.status === 'terminated' || row.archivedAt !== null;
}

/** Calls back once, when the Session has ended on any process. Returns the function that stops it. */
export function watchSessionEnd(store: Store, sessionId: string, onEnd: () => void): () => void {
  let isOver = false;
  const stop = (): void => {
    isOver = true;
    unwatch();
  };
  const look = async (): Promise<void> => {
    if (!(await hasEnded(store, sessionId)) || isOver) return;
    stop();
    onEnd();
  };
  // A store that fails now is asked again at the next change.
  const onChange = (): void => void look().catch(() => undefined);
  const unwatch = store.watch(sessionKey(sessionId), onChange);
  onChange();
  return stop;
}
