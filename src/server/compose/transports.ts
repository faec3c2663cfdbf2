import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import type { ProviderAccount } from '../../providers/account.ts';
import { createMockEngine } from '../../providers/mock/engine.ts';
import type { MockEngineOptions } from '../../providers/mock/engine.ts';
import { createMockTransport } from '../../providers/mock/transport.ts';
import type { Api } from '../../routing/catalog.ts';
import { NO_PROXIES } from '../../upstream/proxy/proxy-rules.ts';
import type { ProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import { createHttp1Transport } from '../../upstream/http1/http1-transport.ts';
import { ConnectionPlaces } from '../../upstream/places/connection-places.ts';
import type { Destination, PlacesInUse } from '../../upstream/places/connection-places.ts';
import type { Transport } from '../../upstream/transport.ts';

export interface TransportsOptions {
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Default none. */
  proxies?: ProxyRules | undefined;
  /** Connections of a provider or API that sets none. */
  connections: number;
}

export interface Transports {
  /**
   * HTTP for every provider but those of `type: mock`, which answer in process; each `holder` gets
   * a fair share of its connections.
   */
  transportFor(account: ProviderAccount, holder: string): Transport;
  transportToApi(api: Api, holder: string): Transport;
  /** Connections of a provider or an API that are in use. */
  look(to: ProviderAccount | Api): PlacesInUse;
  close(): Promise<void>;
}

/** A mock keeps its counters as long as its account object lives, which is until its definition changes. */
export function createTransports({
  clock,
  log,
  connections,
  proxies = NO_PROXIES,
}: TransportsOptions): Transports {
  const http = createHttp1Transport({ clock });
  const mocks = new WeakMap<ProviderAccount, Transport>();
  const places = new ConnectionPlaces({ clock, log, connections });
  // Decided once for each definition, so that calls without a proxy ask nothing.
  const reaching = new WeakMap<ProviderAccount | Api, Transport>();
  const overNetwork = (
    to: ProviderAccount | Api,
    { tls, proxy: declared }: Pick<ProviderAccount, 'tls' | 'proxy'> = {},
  ): Transport => {
    let transport = reaching.get(to);
    if (transport) return transport;
    const proxy = proxies.proxyOf('origin' in to ? to.origin : to.baseUrl, declared);
    transport = tls || proxy ? http.reaching({ ...tls, proxy }) : http;
    reaching.set(to, transport);
    return transport;
  };
  const carrierTo = (account: ProviderAccount): Transport => {
    if (account.definition.id !== 'mock') return overNetwork(account, account);
    let transport = mocks.get(account);
    if (!transport) {
      const cassette = account.mock as MockEngineOptions['cassette'];
      transport = createMockTransport(createMockEngine({ cassette, clock }), clock);
      mocks.set(account, transport);
    }
    return transport;
  };
  return {
    transportFor: (account, holder) => places.share(carrierTo(account), account, holder),
    transportToApi: (api, holder) => places.share(overNetwork(api), destinationOf(api), holder),
    look: (to) => places.look('definition' in to ? to : destinationOf(to)),
    close: () => http.close(),
  };
}

/** Only APIs have these names, and no id of a provider looks like one. */
function destinationOf({ name, connections }: Api): Destination {
  return { id: `api:${name}`, name, connections };
}
