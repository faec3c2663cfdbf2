import type { ClientConnection } from '../inference/types.ts';

/** The owner of the signal replaces the client of a call that no client makes. */
export function signalClient(signal: AbortSignal): ClientConnection {
  return {
    get gone() {
      return signal.aborted;
    },
    onGone(listener) {
      signal.addEventListener('abort', listener, { once: true });
      return () => signal.removeEventListener('abort', listener);
    },
  };
}
