import type { Clock } from '../core/clock.ts';
import type { ProviderAccount } from '../providers/account.ts';
import { createMockEngine } from '../providers/mock/engine.ts';
import type { MockEngineOptions } from '../providers/mock/engine.ts';
import { createMockTransport } from '../providers/mock/transport.ts';
import { createHttp1Transport } from '../upstream/http1/http1-transport.ts';
import type { Transport } from '../upstream/transport.ts';

export interface Transports {
  /** To any host. */
  readonly http: Transport;
  /** HTTP for every provider but those of `type: mock`, which answer in process. */
  transportFor(account: ProviderAccount): Transport;
  close(): Promise<void>;
}

/** A mock keeps its counters as long as its account object lives, which is until its definition changes. */
export function createTransports(clock: Clock): Transports {
  const http = createHttp1Transport({ clock });
  const mocks = new WeakMap<ProviderAccount, Transport>();
  return {
    http,
    transportFor(account) {
      if (account.definition.id !== 'mock') return http;
      let transport = mocks.get(account);
      if (!transport) {
        const cassette = account.mock as MockEngineOptions['cassette'];
        transport = createMockTransport(createMockEngine({ cassette, clock }), clock);
        mocks.set(account, transport);
      }
      return transport;
    },
    close: () => http.close(),
  };
}
