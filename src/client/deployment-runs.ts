import type { ListFilters } from './admin.ts';
import { ClientError } from './http/client-error.ts';
import { hasStrings, isPageOf, isRecord } from './http/guards.ts';
import type { Guard } from './http/guards.ts';
import type { Http } from './http/http.ts';
import { eachItem } from './http/pages.ts';
import { canGoOn } from './http/read-on.ts';
import type { Patience } from './http/read-on.ts';
import { sleep } from './http/sleep.ts';
import { watchList } from './http/watch-list.ts';
import type { WatchOptions } from './http/watch-list.ts';

/** A run of a Schedule as the server shows it; pending while Session and error are null. */
export interface DeploymentRunView {
  id: string;
  deployment_id: string;
  trigger_context: { type: string; scheduled_at?: string };
  session_id: string | null;
  error: { type: string; message: string } | null;
  created_at: string;
  [field: string]: unknown;
}

export type RunStatus = 'pending' | 'succeeded' | 'failed';

export interface RunWatchOptions extends WatchOptions {
  /** Filters of the list of runs in addition to times and status. */
  readonly filters: ListFilters;
}

/** The runs of Schedules of the key's organization; needs the scope `deployments`. */
export interface DeploymentRunsClient {
  /** Newest first, all pages followed. */
  list(
    filters?: ListFilters,
    signal?: AbortSignal,
  ): AsyncGenerator<DeploymentRunView, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<DeploymentRunView>;
  /**
   * The run once it is decided, which is asked for every second.
   *
   * @throws ClientError `timeout` when it is not within `timeoutMs`
   */
  decided(
    run: DeploymentRunView,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<DeploymentRunView>;
  /** Every run as it begins, oldest first, and once more when it is decided. Never ends by itself. */
  watch(options: RunWatchOptions): AsyncGenerator<DeploymentRunView, never, undefined>;
}

export interface DeploymentRunsClientDeps extends Patience {
  readonly http: Http;
}

const PATH = '/v1/deployment_runs';
const POLL_MS = 1_000;
/** Runs of several processes can come to the list out of their order by so much. */
const DISORDER_MS = 60_000;

const hasWords = hasStrings<DeploymentRunView>('id', 'deployment_id', 'created_at');
export const isRun: Guard<DeploymentRunView> = (value): value is DeploymentRunView =>
  hasWords(value) && isRecord(value.trigger_context);

export function statusOf({ session_id: session, error }: DeploymentRunView): RunStatus {
  if (error !== null) return 'failed';
  return session === null ? 'pending' : 'succeeded';
}

export function createDeploymentRunsClient(deps: DeploymentRunsClientDeps): DeploymentRunsClient {
  const { http, clock } = deps;
  const list: DeploymentRunsClient['list'] = (filters, signal) =>
    eachItem(async (page) => {
      const query = { limit: 100, ...filters, page };
      const call = { method: 'GET', path: PATH, query, signal };
      return (await http.json(call, isPageOf(isRun))).body;
    });
  return {
    list,
    get: async (id, signal) => {
      const path = `${PATH}/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isRun)).body;
    },
    async decided(run, { timeoutMs, signal }) {
      const { id, deployment_id: deployment } = run;
      const path = `/v1/deployments/${encodeURIComponent(deployment)}/runs/${encodeURIComponent(id)}`;
      const end = clock.monotonic() + timeoutMs;
      while (statusOf(run) === 'pending') {
        const left = end - clock.monotonic();
        if (left <= 0) {
          const message = `run ${id} was not decided in time`;
          throw new ClientError({ code: 'timeout', message });
        }
        await sleep(clock, Math.min(POLL_MS, left), signal);
        try {
          return (await http.json({ method: 'GET', path, signal }, isRun)).body;
        } catch (thrown) {
          if (!isPending(thrown) && !canGoOn(thrown)) throw thrown;
        }
      }
      return run;
    },
    watch: ({ filters, ...options }) =>
      watchList(
        {
          list: (since, newest) =>
            list(
              { ...filters, 'created_at[gte]': since, ...(newest && { limit: 1 }) },
              options.signal,
            ),
          pending: () => list({ ...filters, status: 'pending' }, options.signal),
          timeOf: ({ created_at }) => created_at,
          stateOf: statusOf,
          isPending: (run) => statusOf(run) === 'pending',
          disorderMs: DISORDER_MS,
        },
        { ...options, clock },
      ),
  };
}

/** The nested get answers 409 as long as the run is pending. */
function isPending(thrown: unknown): boolean {
  return thrown instanceof ClientError && thrown.status === 409;
}
