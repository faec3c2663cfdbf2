import type { ApiPath } from '../api/calls.ts';
import { browserConnection } from './browser-connection.ts';
import { Hub } from './hub.ts';
import { isSameChannel } from './messages.ts';
import type { HubMessage, TabMessage, Want } from './messages.ts';

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
 *
 * @param sessionOf the session that a subscription of now is for
 */
export function createStreams(document: Document, sessionOf: () => string): Streams {
  const tab = Math.random().toString(36).slice(2);
  const subscriptions = new Set<Subscription & Pick<Want, 'session'> & { read?: Want['read'] }>();
  const send = toHub(tab, (message) => {
    for (const subscription of subscriptions) {
      if (!isSameChannel(subscription, message)) continue;
      if ('place' in message) subscription.read = message.place;
      subscription.onMessage(message);
    }
  });
  const tell = (): void => {
    const wanted = document.visibilityState === 'hidden' ? [] : [...subscriptions];
    send({ tab, wants: wanted.map(({ onMessage: _onMessage, ...want }) => want) });
  };
  document.addEventListener('visibilitychange', tell);
  window.addEventListener('pagehide', () => send({ tab, wants: [] }));
  window.addEventListener('pageshow', ({ persisted }) => persisted && tell());
  return {
    subscribe(subscription) {
      const kept = { ...subscription, session: sessionOf() };
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
