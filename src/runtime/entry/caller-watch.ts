import type { ActiveExchanges } from '../../inference/active-exchanges.ts';
import { watchClient } from '../../surfaces/http-exchange.ts';
import type { HttpExchange } from '../../surfaces/http-exchange.ts';

/** Exchanges that a stop of the gateway can end. */
export type Exchanges = Pick<ActiveExchanges, 'add' | 'delete'>;

/** A caller that waits for an answer that may take long. */
export interface CallerWatch {
  /** Aborted when the caller has disconnected, and when the gateway stops. */
  readonly signal: AbortSignal;
  readonly isGone: boolean;
  onGone(listener: () => void): void;
  /** The answer is complete. */
  done(): void;
}

export function watchCaller({ response }: HttpExchange, active: Exchanges): CallerWatch {
  const stop = new AbortController();
  const client = watchClient(response);
  const member = { shutDown: () => stop.abort() };
  active.add(member);
  if (client.gone) stop.abort();
  client.onGone(() => stop.abort());
  return {
    signal: stop.signal,
    get isGone() {
      return client.gone;
    },
    onGone: (listener) => void client.onGone(listener),
    done: () => active.delete(member),
  };
}
