import { hasStrings, isRecord } from './http/guards.ts';
import type { Http } from './http/http.ts';

/** State of the gateway; newer servers may add fields. */
export interface GatewayStatus {
  version: string;
  store: { driver: string; scope: string; state: string; warnings: readonly string[] };
  workers: readonly { id: string; since: string }[];
  providers: readonly { name: string; routes: readonly Record<string, unknown>[] }[];
  /** Files that it reads again at a reload; absent from older gateways. */
  follows?: { files: readonly string[]; watch: boolean } | null;
  /** Jobs that are begun or wait, by kind; absent from older gateways. */
  work?: Readonly<Record<string, number>>;
  /** Routes and APIs without a known price; gateways of former releases do not say. */
  unpriced?: readonly string[];
  [field: string]: unknown;
}

/** File of configuration that is not on the server. */
export interface GivenFile {
  readonly name: string;
  readonly text: string;
}

export interface PlannedFiles {
  /** Findings by position, as `gateway validate -o json` gives them. */
  diagnostics: readonly Record<string, unknown>[];
  /** The plan of `gateway plan -o json`; null where a finding is an error. */
  plan: Record<string, unknown> | null;
  [field: string]: unknown;
}

/** Declared value of a secret, to be compared with the stored one. */
export interface GivenSecret {
  readonly kind: string;
  /** Null for an object that is to be created. */
  readonly id: string | null;
  readonly field: string;
  readonly value: string;
}

/** How a {@link GivenSecret} compares; newer servers may add fields. */
export interface SecretComparison {
  same: boolean;
  /** Fingerprint of the stored value; null where there is none. */
  stored: string | null;
  given: string;
  /** Id of the key that has, or had, the value. */
  holder: string | null;
}

/** List of published prices that the gateway uses; newer servers may add fields. */
export interface PriceListView {
  in_use: 'shipped' | 'kept';
  /** Version of the package that comes with the gateway. */
  shipped_version: string;
  /** Hash of the kept list; null, here and in all members below: the shipped list is used. */
  sha256: string | null;
  from: string | null;
  /** RFC 3339. */
  kept_at: string | null;
  vendors: number | null;
  models: number | null;
  [field: string]: unknown;
}

/** Calls for operators; they need a key with the scope `admin`. */
export interface OperatorsClient {
  status(signal?: AbortSignal): Promise<GatewayStatus>;
  /** Changes nothing. */
  plan(
    files: readonly GivenFile[],
    options?: { prune?: boolean; adopt?: boolean; signal?: AbortSignal },
  ): Promise<PlannedFiles>;
  /** One answer for each, in their order, of at most 500. Changes nothing. */
  compareSecrets(
    secrets: readonly GivenSecret[],
    signal?: AbortSignal,
  ): Promise<readonly SecretComparison[]>;
  prices(signal?: AbortSignal): Promise<PriceListView>;
  /** Uses a list, given as its JSON text, in place of the shipped one or of a former one. */
  keepPrices(
    given: { text: string; sha256: string; from: string },
    signal?: AbortSignal,
  ): Promise<PriceListView>;
  /** Returns to the shipped list. */
  dropPrices(signal?: AbortSignal): Promise<PriceListView>;
}

const isStatus = hasStrings<GatewayStatus>('version');

const isPrices = hasStrings<PriceListView>('in_use', 'shipped_version');
const PRICES = '/admin/v1/prices';

function isComparison(value: unknown): value is { data: SecretComparison[] } {
  return isRecord(value) && Array.isArray(value['data']);
}

function isPlanned(value: unknown): value is PlannedFiles {
  return isRecord(value) && Array.isArray(value['diagnostics']) && 'plan' in value;
}

export function createOperatorsClient(http: Http): OperatorsClient {
  return {
    async status(signal) {
      return (await http.json({ method: 'GET', path: '/admin/v1/status', signal }, isStatus)).body;
    },
    async plan(files, { signal, ...options } = {}) {
      const path = '/admin/v1/configuration/plan';
      const call = { method: 'POST', path, body: { files, ...options }, signal };
      return (await http.json(call, isPlanned)).body;
    },
    async compareSecrets(secrets, signal) {
      const path = '/admin/v1/configuration/secrets';
      const call = { method: 'POST', path, body: { secrets }, signal };
      return (await http.json(call, isComparison)).body.data;
    },
    prices: async (signal) =>
      (await http.json({ method: 'GET', path: PRICES, signal }, isPrices)).body,
    keepPrices: async (body, signal) =>
      (await http.json({ method: 'PUT', path: PRICES, body, signal }, isPrices)).body,
    dropPrices: async (signal) =>
      (await http.json({ method: 'DELETE', path: PRICES, signal }, isPrices)).body,
  };
}
