import { createHash } from 'node:crypto';
import { changedFields } from '../../audit/changed-fields.ts';
import type { Origin } from '../../audit/audit-entry.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { Store, Version } from '../../store/store.ts';
import { USED_VENDORS } from '../../usage/prices/price-list.ts';
import { MAX_PRICE_LIST_BYTES, vendorFields } from '../../usage/prices/vendor-prices.ts';
import type { Vendor } from '../../usage/prices/vendor-prices.ts';
import { parseFields } from '../fields/parse-body.ts';
import type { Repository } from '../store/repository.ts';
import { untilWon } from '../store/resource-rows.ts';
import { PRICE_LIST_KEY, PRICE_LIST_KIND } from '../store/storage-keys.ts';

/** List of prices as an operator gives it. */
export interface GivenPrices {
  /** JSON in the format of genai-prices. */
  readonly text: string;
  /** Sum of the text that the operator expects, in hexadecimal. */
  readonly sha256: string;
  /** File or URL that the operator named. */
  readonly from: string;
}

/** List that the store keeps, for every process on it. */
export interface KeptPrices extends Omit<GivenPrices, 'text'> {
  /** RFC 3339. */
  readonly kept_at: string;
  readonly vendors: readonly Vendor[];
}

/** Caller, and where the list is kept. */
export interface PricesScope {
  readonly repository: Pick<Repository, 'store' | 'write'>;
  readonly by: Origin;
}

/** The kept list; undefined while the shipped one is used. Rejects with `StoreError`. */
export async function readKeptPrices(store: Pick<Store, 'get'>): Promise<KeptPrices | undefined> {
  return (await store.get<KeptPrices>(PRICE_LIST_KEY))?.value;
}

/**
 * Keeps a list in place of the former one, or of the shipped one; the same list again changes nothing.
 *
 * @throws GatewayError `invalid_request` or `unprocessable` for a text that has another sum, is too long,
 *   is no list of prices, or names no vendor whose prices are used
 */
export async function keepPrices(
  given: GivenPrices,
  { repository, by, now }: PricesScope & { now: number },
): Promise<KeptPrices> {
  const sha256 = given.sha256.toLowerCase();
  const vendors = readVendors({ ...given, sha256 });
  const next = {
    sha256,
    from: withoutSecrets(given.from),
    kept_at: new Date(now).toISOString(),
    vendors,
  };
  return untilWon(async () => {
    const found = await repository.store.get<KeptPrices>(PRICE_LIST_KEY);
    if (found?.value.sha256 === sha256) return found.value;
    const change = { old: found?.value, next };
    const unmoved = found ? { ifVersion: found.version } : { ifAbsent: true as const };
    const conflict = await repository.write(
      [{ type: 'put', key: PRICE_LIST_KEY, value: next, ...unmoved }],
      noteOf(change, by),
    );
    return conflict ? undefined : next;
  });
}

/** Returns to the shipped list. Rejects with `StoreError`. */
export async function dropPrices({ repository, by }: PricesScope): Promise<void> {
  await untilWon(async () => {
    const found = await repository.store.get<KeptPrices>(PRICE_LIST_KEY);
    return !found || (await isDropped({ repository, by }, found)) ? true : undefined;
  });
}

async function isDropped(
  { repository, by }: PricesScope,
  { value, version }: { value: KeptPrices; version: Version },
): Promise<boolean> {
  const note = noteOf({ old: value, next: undefined }, by);
  const op = { type: 'delete', key: PRICE_LIST_KEY, ifVersion: version } as const;
  return !(await repository.write([op], note));
}

function noteOf(
  { old, next }: { old: KeptPrices | undefined; next: KeptPrices | undefined },
  origin: Origin,
) {
  const { from = null } = next ?? old ?? {};
  return {
    origin,
    action: next ? 'update' : 'delete',
    object: { kind: PRICE_LIST_KIND, id: String(PRICE_LIST_KEY.at(-1)), name: from },
    organization: null,
    changes: changedFields(toldOf(old), toldOf(next)),
  };
}

function toldOf(list: KeptPrices | undefined): Record<string, unknown> {
  return list ? { sha256: list.sha256, from: list.from, vendors: list.vendors.length } : {};
}

/** A URL without credentials; any other text as it is. */
function withoutSecrets(from: string): string {
  if (!URL.canParse(from)) return from;
  const { protocol, host, pathname } = new URL(from);
  return host === '' ? from : `${protocol}//${host}${pathname}`;
}

function readVendors({ text, sha256 }: GivenPrices): Vendor[] {
  if (Buffer.byteLength(text) > MAX_PRICE_LIST_BYTES) {
    const message = `text: a list of prices may have at most ${MAX_PRICE_LIST_BYTES} bytes`;
    throw new GatewayError('invalid_request', { message, param: 'text' });
  }
  const sum = createHash('sha256').update(text).digest('hex');
  if (sum !== sha256) {
    const message = `sha256: the list has the sum ${sum}, not ${sha256}; nothing is changed`;
    throw new GatewayError('invalid_request', { message, param: 'sha256' });
  }
  const list = parseText(text);
  const value = Array.isArray(list) ? { providers: list } : list;
  if (!isJsonObject(value)) {
    const message = 'text: a list of prices is an array of vendors, or has one as `providers`';
    throw new GatewayError('invalid_request', { message, param: 'text' });
  }
  const { providers } = parseFields(vendorFields(), value, 'text.');
  const vendors = providers as Vendor[];
  if (vendors.some(({ id }) => USED_VENDORS.includes(id))) return vendors;
  const message = `text.providers: none of them is a vendor whose prices are used: ${USED_VENDORS.join(', ')}`;
  throw new GatewayError('unprocessable', { message, param: 'text.providers' });
}

function parseText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    const message = 'text: the list of prices is not valid JSON';
    throw new GatewayError('invalid_request', { message, param: 'text' });
  }
}
