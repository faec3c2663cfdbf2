import type { ListFilters } from './admin.ts';
import { ClientError } from './http/client-error.ts';
import { hasStrings, isPageOf, isRecord } from './http/guards.ts';
import type { Guard } from './http/guards.ts';
import type { Http } from './http/http.ts';
import { collect, eachItem } from './http/pages.ts';
import { canGoOn } from './http/read-on.ts';
import type { Patience } from './http/read-on.ts';
import { sleep } from './http/sleep.ts';
import { isAtRest, withOutcomes } from './run-outcome.ts';
import type { WithOutcome } from './run-outcome.ts';
import type { SessionsClient } from './sessions.ts';
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

export type JoinedRun = WithOutcome<DeploymentRunView>;

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
  /** The runs with what became of their Sessions, see {@link withOutcomes}. */
  withOutcomes(runs: readonly DeploymentRunView[], signal?: AbortSignal): Promise<JoinedRun[]>;
  /** The same for one. */
  withOutcome(run: DeploymentRunView, signal?: AbortSignal): Promise<JoinedRun>;
  /**
   * The run once its Session is at rest, too: it is over, or waits for its client.
   *
   * @throws ClientError `timeout` when it is not within `timeoutMs`
   */
  atRest(
    run: DeploymentRunView,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<JoinedRun>;
  /** Every run as it begins, oldest first, and again as its outcome changes. Never ends by itself. */
  watch(options: RunWatchOptions): AsyncGenerator<JoinedRun, never, undefined>;
}

export interface DeploymentRunsClientDeps extends Patience {
  readonly http: Http;
  readonly sessions: Pick<SessionsClient, 'list'>;
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
  const { http, clock, sessions } = deps;
  const list: DeploymentRunsClient['list'] = (filters, signal) =>
    eachItem(async (page) => {
      const query = { limit: 100, ...filters, page };
      const call = { method: 'GET', path: PATH, query, signal };
      return (await http.json(call, isPageOf(isRun))).body;
    });
  const withOutcome: DeploymentRunsClient['withOutcome'] = async (run, signal) =>
    (await withOutcomes(sessions, [run], signal))[0] as JoinedRun;
  const decided: DeploymentRunsClient['decided'] = async (run, { timeoutMs, signal }) => {
    const { id, deployment_id: deployment } = run;
    if (statusOf(run) !== 'pending') return run;
    const path = `/v1/deployments/${encodeURIComponent(deployment)}/runs/${encodeURIComponent(id)}`;
    const message = `run ${id} was not decided in time`;
    const end = clock.monotonic() + timeoutMs;
    return poll(
      { clock, end, message, signal },
      async () => (await http.json({ method: 'GET', path, signal }, isRun)).body,
    );
  };
  return {
    list,
    withOutcomes: (runs, signal) => withOutcomes(sessions, runs, signal),
    withOutcome,
    get: async (id, signal) => {
      const path = `${PATH}/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isRun)).body;
    },
    decided,
    async atRest(run, options) {
      const end = clock.monotonic() + options.timeoutMs;
      const made = await decided(run, options);
      const { signal } = options;
      const look = async (): Promise<JoinedRun | undefined> => {
        const joined = await withOutcome(made, signal);
        return isAtRest(joined.outcome) ? joined : undefined;
      };
      const message = `the Session of run ${run.id} was not over in time`;
      return (await look()) ?? poll({ clock, end, message, signal }, look);
    },
    watch: (options) => watchRuns({ list, sessions, clock }, options),
  };
}

type Watching = Pick<DeploymentRunsClientDeps, 'sessions' | 'clock'> &
  Pick<DeploymentRunsClient, 'list'>;

function watchRuns(
  { list, sessions, clock }: Watching,
  { filters, ...options }: RunWatchOptions,
): ReturnType<DeploymentRunsClient['watch']> {
  const { signal } = options;
  const joined = async function* (more: ListFilters, most?: number) {
    const runs = await collect(list({ ...filters, ...more }, signal), most);
    yield* await withOutcomes(sessions, runs, signal);
  };
  return watchList(
    {
      list: (since, most) =>
        most === undefined ? joined({ 'created_at[gte]': since }) : joined({}, most),
      pending: () => joined({ status: 'pending' }),
      timeOf: ({ created_at }) => created_at,
      stateOf: ({ outcome }) => outcome.type,
      isPending: ({ outcome }) => outcome.type === 'pending',
      isOpen: ({ outcome: { type } }) => type === 'running' || type === 'waiting',
      again: (runs) => withOutcomes(sessions, runs, signal),
      disorderMs: DISORDER_MS,
    },
    { ...options, clock },
  );
}

interface Polling extends Pick<Patience, 'clock'> {
  /** Monotonic milliseconds at which it is given up. */
  readonly end: number;
  /** Message of the timeout. */
  readonly message: string;
  readonly signal: AbortSignal | undefined;
}

/** Looks every second until there is a result; a gateway that does not answer is asked again. */
async function poll<T>(
  { clock, end, message, signal }: Polling,
  look: () => Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const left = end - clock.monotonic();
    if (left <= 0) throw new ClientError({ code: 'timeout', message });
    await sleep(clock, Math.min(POLL_MS, left), signal);
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (thrown) {
      if (!isPending(thrown) && !canGoOn(thrown)) throw thrown;
    }
  }
}

/** The nested get answers 409 as long as the run is pending. */
function isPending(thrown: unknown): boolean {
  return thrown instanceof ClientError && thrown.status === 409;
}
