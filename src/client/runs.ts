import { ClientError } from './http/client-error.ts';
import { hasStrings } from './http/guards.ts';
import type { Http } from './http/http.ts';
import { canGoOn } from './http/read-on.ts';
import type { Patience } from './http/read-on.ts';
import { sleep } from './http/sleep.ts';

/** A run of a model or API; the last three states are final. */
export interface RunView {
  id: string;
  model: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  output: unknown;
  error: { code: string; message: string } | null;
  usage: unknown;
  created_at: string;
  completed_at: string | null;
  [field: string]: unknown;
}

export interface RunInput {
  model: string;
  input: unknown;
  async?: boolean | undefined;
  webhook_url?: string | undefined;
}

export interface RunsClient {
  /**
   * The run as it is when it is over or the server no longer waits. Never repeated.
   *
   * @param options `waitMs`: how long the server may wait
   */
  create(input: RunInput, options: { waitMs: number; signal?: AbortSignal }): Promise<RunView>;
  get(id: string, signal?: AbortSignal): Promise<RunView>;
  /**
   * The run once it is over, which is asked for every second.
   *
   * @throws ClientError `timeout` when it is not within `timeoutMs`
   */
  ended(run: RunView, options: { timeoutMs: number; signal?: AbortSignal }): Promise<RunView>;
}

/** State of a run, a video task or a prediction, and of its money. */
export interface TaskView {
  id: string;
  type: string;
  model: string;
  status: string;
  settlement: string;
  /** Decimal USD; null: unknown. */
  cost: string | null;
  [field: string]: unknown;
}

export interface TasksClient {
  get(id: string, signal?: AbortSignal): Promise<TaskView>;
}

const PATH = '/v1/run';
const POLL_MS = 1_000;
const isRun = hasStrings<RunView>('id', 'model', 'status', 'created_at');
const isTask = hasStrings<TaskView>('id', 'type', 'model', 'status', 'settlement');

export const isRunOver = ({ status }: RunView): boolean =>
  status !== 'queued' && status !== 'running';

export function createRunsClient({ http, clock }: Patience & { http: Http }): RunsClient {
  const get: RunsClient['get'] = async (id, signal) => {
    const path = `${PATH}/${encodeURIComponent(id)}`;
    return (await http.json({ method: 'GET', path, signal }, isRun)).body;
  };
  return {
    get,
    async create(body, { waitMs, signal }) {
      const headers = { prefer: `wait=${Math.max(0, Math.floor(waitMs / 1000))}` };
      return (await http.json({ method: 'POST', path: PATH, body, headers, signal }, isRun)).body;
    },
    async ended(run, { timeoutMs, signal }) {
      const end = clock.monotonic() + timeoutMs;
      let last = run;
      while (!isRunOver(last)) {
        const left = end - clock.monotonic();
        if (left <= 0) {
          const message = `run ${run.id} was not over in time`;
          throw new ClientError({ code: 'timeout', message });
        }
        await sleep(clock, Math.min(POLL_MS, left), signal);
        try {
          last = await get(run.id, signal);
        } catch (thrown) {
          if (!canGoOn(thrown)) throw thrown;
        }
      }
      return last;
    },
  };
}

export function createTasksClient(http: Http): TasksClient {
  return {
    async get(id, signal) {
      const path = `/v1/tasks/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isTask)).body;
    },
  };
}
