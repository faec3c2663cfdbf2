import type { ApiPath } from '../api/calls.ts';
import { browserConnection } from './browser-connection.ts';
import { Hub } from './hub.ts';
import type { HubMessage, Place, TabMessage } from './messages.ts';

export interface Subscription {
  readonly path: ApiPath<'GET'>;
  readonly query: Readonly<Record<string, string>>;
  readonly onMessage: (message: HubMessage) => void;
}

export interface Streams {
  /** Returns what ends it. */
  subscribe(subscription: Subscription): () => void;
}

/**
 * The streams of this tab, shared with the browser's other tabs where it can; none is open while the
 * tab is hidden.
 */
export function createStreams(document: Document): Streams {
  const tab = Math.random().toString(36).slice(2);
  const subscriptions = new Set<Subscription & { read?: Place }>();
  const send = toHub(tab, ({ path, ...rest }) => {
    for (const subscription of subscriptions) {
      if (subscription.path !== path) continue;
      if ('place' in rest) subscription.read = rest.place;
      subscription.onMessage({ path, ...rest });
    }
  });
  const tell = (): void => {
    const wanted = document.visibilityState === 'hidden' ? [] : [...subscriptions];
    send({ tab, wants: wanted.map(({ path, query, read }) => ({ path, query, read })) });
  };
  document.addEventListener('visibilitychange', tell);
  window.addEventListener('pagehide', () => send({ tab, wants: [] }));
  window.addEventListener('pageshow', ({ persisted }) => persisted && tell());
  return {
    subscribe(subscription) {
      const kept = { ...subscription };
      subscriptions.add(kept);
      tell();
      return () => {
        subscriptions.delete(kept);
        tell();
      };
    },
  };
}

/** The way to the hub: in a worker that the tabs share, or in this tab where there is none. */
function toHub(tab: string, receive: (message: HubMessage) => void): (message: TabMessage) => void {
  if (typeof SharedWorker === 'undefined') {
    const hub = new Hub(browserConnection(fetch.bind(globalThis)));
    return (message) => hub.take(message, receive);
  }
  const worker = new SharedWorker(new URL('./stream-worker.ts', import.meta.url), {
    type: 'module',
    name: 'agent-gateway streams',
  });
  worker.port.addEventListener('message', ({ data }: MessageEvent<HubMessage>) => receive(data));
  worker.port.start();
  // Lock until the tab is gone, so that the worker knows when it is.
  const isHeld = new Promise<void>((resolve) => {
    if (!navigator.locks) resolve();
    void navigator.locks?.request(`tab ${tab}`, () => {
      resolve();
      return new Promise(() => undefined);
    });
  });
  return (message) => void isHeld.then(() => worker.port.postMessage(message));
}
