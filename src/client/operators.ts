import { hasStrings, isRecord } from './http/guards.ts';
import type { Http } from './http/http.ts';

/** State of the gateway; newer servers may add fields. */
export interface GatewayStatus {
  version: string;
  store: { driver: string; scope: string; state: string; warnings: readonly string[] };
  workers: readonly { id: string; since: string }[];
  providers: readonly { name: string; routes: readonly Record<string, unknown>[] }[];
  [field: string]: unknown;
}

/** File of configuration that is not on the server. */
export interface GivenFile {
  readonly name: string;
  readonly text: string;
}

export interface PlannedFiles {
  /** Findings by place, as `gateway validate -o json` gives them. */
  diagnostics: readonly Record<string, unknown>[];
  /** The plan of `gateway plan -o json`; null where a finding is an error. */
  plan: Record<string, unknown> | null;
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
}

const isStatus = hasStrings<GatewayStatus>('version');

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
  };
}
