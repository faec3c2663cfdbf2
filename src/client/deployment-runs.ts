import type { ListFilters } from './admin.ts';
import { ClientError } from './client-error.ts';
import { hasStrings, isPageOf, isRecord } from './guards.ts';
import type { Guard } from './guards.ts';
import type { Http } from './http.ts';
import { collect, eachItem } from './pages.ts';
import { canGoOn } from './read-on.ts';
import type { Patience } from './read-on.ts';
import { sleep } from './sleep.ts';

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

export interface WatchOptions {
  /** What the list of runs filters by, but for times and status. */
  filters: ListFilters;
  /** RFC 3339: begins with the runs since then. Default: only what happens from now on. */
  from?: string | undefined;
  /** Milliseconds between two looks. */
  intervalMs: number;
  /** Told of a look that failed and is repeated. */
  onTrouble(error: ClientError): void;
  signal?: AbortSignal | undefined;
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
  watch(options: WatchOptions): AsyncGenerator<DeploymentRunView, never, undefined>;
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
    watch: (options) => watchRuns({ ...deps, list }, options),
  };
}

/** The nested get answers 409 as long as the run is pending. */
function isPending(thrown: unknown): boolean {
  return thrown instanceof ClientError && thrown.status === 409;
}

type Lister = Pick<DeploymentRunsClient, 'list'> & Patience;

async function* watchRuns(
  { list, clock }: Lister,
  { filters, from, intervalMs, onTrouble, signal }: WatchOptions,
): AsyncGenerator<DeploymentRunView, never, undefined> {
  const seen = new Map<string, DeploymentRunView>();
  /** Tells of each look what is new in it; the first look without `from` tells nothing. */
  const look = async (since: string | undefined): Promise<DeploymentRunView[]> => {
    const runs = await collect(list({ ...filters, 'created_at[gte]': since }, signal));
    const news = runs.filter((run) => {
      const before = seen.get(run.id);
      seen.set(run.id, run);
      return !before || statusOf(before) !== statusOf(run);
    });
    return news.reverse();
  };
  let since = from;
  let isFirst = from === undefined;
  for (;;) {
    try {
      if (isFirst) since = horizonOf(await collect(list({ ...filters, limit: 1 }, signal), 1));
      const news = await look(since);
      if (!isFirst) yield* news;
      isFirst = false;
      since = horizonOf(seen.values()) ?? since;
      for (const [id, { created_at: at }] of seen)
        if (since !== undefined && at < since) seen.delete(id);
    } catch (thrown) {
      if (!(thrown instanceof ClientError) || !canGoOn(thrown)) throw thrown;
      onTrouble(thrown);
    }
    await sleep(clock, intervalMs, signal);
  }
}

/** From when on another look can tell something new: a bit before the newest, or since a pending one. */
function horizonOf(runs: Iterable<DeploymentRunView>): string | undefined {
  const all = [...runs];
  if (all.length === 0) return undefined;
  const newest = Math.max(...all.map(({ created_at: at }) => Date.parse(at)));
  const pending = all.filter((run) => statusOf(run) === 'pending');
  const open = pending.map(({ created_at: at }) => Date.parse(at));
  return new Date(Math.min(newest - DISORDER_MS, ...open)).toISOString();
}
