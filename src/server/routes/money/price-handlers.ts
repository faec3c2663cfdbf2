import { createRequire } from 'node:module';
import { z } from 'zod';
import type { Clock } from '../../../core/time/clock.ts';
import { packageFile } from '../../../core/package-root.ts';
import { parseFields, readObject } from '../../../resources/fields/parse-body.ts';
import { dropPrices, keepPrices, readKeptPrices } from '../../../resources/prices/kept-prices.ts';
import type { GivenPrices, KeptPrices } from '../../../resources/prices/kept-prices.ts';
import type { Repository } from '../../../resources/store/repository.ts';
import type { GateDeps } from '../../../surfaces/gate.ts';
import { readBody } from '../../../surfaces/read-body.ts';
import { MAX_PRICE_LIST_BYTES } from '../../../usage/prices/vendor-prices.ts';
import { originOf } from '../../../audit/origin-of.ts';
import type { ResourceBodies } from '../../http/resource-exchange.ts';
import { asAdmin } from '../admin-handlers.ts';
import type { HandlersOf } from '../lazy-routes.ts';
import type { PRICE_ROUTES } from '../outlines.ts';

export interface PriceDeps extends GateDeps, ResourceBodies {
  readonly repository: Repository;
  readonly clock: Clock;
  /** Makes this process serve every change that was committed before, or rejects. */
  catchUp(): Promise<void>;
}

/** List of prices that is in use, without the prices. */
export interface PriceListView {
  readonly type: 'price_list';
  readonly in_use: 'shipped' | 'kept';
  /** Version of the package that is shipped. */
  readonly shipped_version: string;
  /** Absent values of the shipped list are null. */
  readonly sha256: string | null;
  readonly from: string | null;
  /** RFC 3339. */
  readonly kept_at: string | null;
  readonly vendors: number | null;
  readonly models: number | null;
}

/** Bytes that a list may have as text of a JSON body, where each quote takes two. */
const MAX_BODY_BYTES = 2 * MAX_PRICE_LIST_BYTES;

const fields = z.strictObject({
  text: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/i, 'must be 64 hexadecimal digits'),
  from: z.string().min(1).max(2_048),
});

/** `/admin/v1/prices`: the list of published prices that every process uses. */
export function priceHandlers(deps: PriceDeps): HandlersOf<typeof PRICE_ROUTES> {
  const { repository, clock, maxBodyBytes, resourceValues: values } = deps;
  const show = async () => ({
    status: 200,
    body: viewOf(await readKeptPrices(repository.store)),
  });
  // A call right after the change must meet it. The write itself has succeeded whatever comes here.
  const takeUp = () => deps.catchUp().catch(() => undefined);
  return {
    prices: asAdmin('costs', deps, show),
    keepPrices: asAdmin('govern', deps, async (exchange, principal) => {
      const limit = Math.min(maxBodyBytes, MAX_BODY_BYTES);
      const bytes = await readBody(exchange, { limit, holder: principal.keyId });
      const given = parseFields(fields, await readObject(bytes, { values })) as unknown;
      const by = originOf(exchange, principal);
      await keepPrices(given as GivenPrices, { repository, by, now: clock.now() });
      await takeUp();
      return show();
    }),
    dropPrices: asAdmin('govern', deps, async (exchange, principal) => {
      await dropPrices({ repository, by: originOf(exchange, principal) });
      await takeUp();
      return show();
    }),
  };
}

function viewOf(kept: KeptPrices | undefined): PriceListView {
  return {
    type: 'price_list',
    in_use: kept ? 'kept' : 'shipped',
    shipped_version: shippedVersion(),
    sha256: kept?.sha256 ?? null,
    from: kept?.from ?? null,
    kept_at: kept?.kept_at ?? null,
    vendors: kept?.vendors.length ?? null,
    models: kept?.vendors.reduce((sum, { models }) => sum + models.length, 0) ?? null,
  };
}

/** The package is pinned, so that the manifest has its version without loading it. */
function shippedVersion(): string {
  const manifest = createRequire(import.meta.url)(packageFile('package.json')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  return manifest.dependencies['@pydantic/genai-prices'] ?? 'unknown';
}
