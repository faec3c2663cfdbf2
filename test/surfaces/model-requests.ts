import type { IncomingHttpHeaders } from 'node:http';
import type { Catalog, Model } from '../../src/routing/catalog.ts';
import type { Handler, HttpExchange, Reply } from '../../src/surfaces/http-exchange.ts';
import type { ModelsDeps } from '../../src/surfaces/models.ts';
import type { Principal } from '../../src/usage/principal.ts';
import { fakeCatalog } from '../support/catalog.ts';
import { SPOKEN } from '../protocols/spoken.ts';
import { principal } from '../usage/usage-fixtures.ts';

export const KEY = 'sk-1';

interface Listing {
  readonly models: readonly Model[];
  readonly open?: Catalog['open'];
  readonly payer?: Partial<Principal>;
  readonly readsEveryCarrier?: boolean;
}

/** What lists of models stand on: one key that is known, and a count of the places it holds. */
export function modelsDeps({ models, open = [], payer, readsEveryCarrier = false }: Listing): {
  deps: ModelsDeps;
  inFlight: () => number;
} {
  let inFlight = 0;
  const deps: ModelsDeps = {
    catalog: () => ({ ...fakeCatalog(...models), open }),
    readsEveryCarrier,
    protocols: [SPOKEN.wires.chat, SPOKEN.wires.messages],
    lookup: (key) => (key === KEY ? principal({ concurrencyCap: 1, ...payer }) : 'unknown'),
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: {
      enter() {
        inFlight++;
        return () => void inFlight--;
      },
    },
  };
  return { deps, inFlight: () => inFlight };
}

export interface Asked {
  readonly path?: string;
  readonly search?: string;
  readonly headers?: IncomingHttpHeaders;
}

/** Body of the answer to a request that has the key, unless it brings headers of its own. */
export async function bodyOf(
  handler: Handler,
  { path = '/v1/models', search = '', headers = { authorization: `Bearer ${KEY}` } }: Asked = {},
): Promise<unknown> {
  const exchange = { path, search, request: { headers } } as unknown as HttpExchange;
  const { status, body } = (await handler(exchange)) as Reply;
  return status === 200 ? body : { status };
}
