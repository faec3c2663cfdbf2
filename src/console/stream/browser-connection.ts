import { headersOf } from '../api/call.ts';
import type { ConnectionDeps } from './connection.ts';

/** Streams by the browser's own means. */
export function browserConnection(fetch: typeof globalThis.fetch): ConnectionDeps {
  return {
    open: ({ url, session }, lastId, signal) =>
      fetch(`/console/api${url}`, {
        signal,
        credentials: 'same-origin',
        cache: 'no-store',
        headers: {
          accept: 'text/event-stream',
          ...headersOf(session),
          ...(lastId !== undefined && { 'last-event-id': lastId }),
        },
      }),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
