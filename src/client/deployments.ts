import { preferUsable } from './admin.ts';
import type { ListFilters } from './admin.ts';
import { ClientError } from './http/client-error.ts';
import { isRun } from './deployment-runs.ts';
import type { DeploymentRunView } from './deployment-runs.ts';
import { hasStrings, isPageOf, isRecord } from './http/guards.ts';
import { deleteOnce } from './http/delete-once.ts';
import type { Http } from './http/http.ts';
import { eachItem } from './http/pages.ts';

/** A Schedule as the server shows it. */
export interface DeploymentView {
  id: string;
  name: string;
  status: string;
  created_at: string;
  [field: string]: unknown;
}

/** The Schedules of the key's organization; needs the scope `deployments`. */
export interface DeploymentsClient {
  /** Newest first, all pages followed. */
  list(
    filters?: ListFilters,
    signal?: AbortSignal,
  ): AsyncGenerator<DeploymentView, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<DeploymentView>;
  /**
   * The Schedule with this id or name; an archived one where no other has the name.
   *
   * @throws ClientError `not_found`; `ambiguous` for a name that several have
   */
  find(named: string, signal?: AbortSignal): Promise<DeploymentView>;
  /** `pause`, `unpause` or `archive`. */
  action(id: string, name: string, signal?: AbortSignal): Promise<DeploymentView>;
  delete(id: string, signal?: AbortSignal): Promise<void>;
  /** Runs it once, by hand; never repeated. Pending when that takes longer than 10 seconds. */
  trigger(id: string, signal?: AbortSignal): Promise<DeploymentRunView>;
  /** Sends the test message. Throws with the server's 502 when it was not delivered. */
  testNotification(id: string, signal?: AbortSignal): Promise<void>;
}

const PATH = '/v1/deployments';
const isDeployment = hasStrings<DeploymentView>('id', 'name', 'status', 'created_at');
const isDelivered = (value: unknown): value is { delivered: true } =>
  isRecord(value) && value['delivered'] === true;

export function createDeploymentsClient(http: Http): DeploymentsClient {
  const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;
  const list: DeploymentsClient['list'] = (filters, signal) =>
    eachItem(async (page) => {
      const query = { limit: 100, ...filters, page };
      const call = { method: 'GET', path: PATH, query, signal };
      return (await http.json(call, isPageOf(isDeployment))).body;
    });
  const get: DeploymentsClient['get'] = async (id, signal) =>
    (await http.json({ method: 'GET', path: pathOf(id), signal }, isDeployment)).body;
  return {
    list,
    get,
    find: (named, signal) =>
      named.startsWith('depl_')
        ? get(named, signal)
        : findByName(list({ name: named, include_archived: 'true' }, signal), named),
    async action(id, name, signal) {
      const call = { method: 'POST', path: `${pathOf(id)}/${name}`, body: {}, signal };
      return (await http.json(call, isDeployment)).body;
    },
    delete: (id, signal) => deleteOnce(http, pathOf(id), signal),
    async trigger(id, signal) {
      const call = { method: 'POST', path: `${pathOf(id)}/runs`, body: {}, signal };
      return (await http.json(call, isRun)).body;
    },
    async testNotification(id, signal) {
      const path = `${pathOf(id)}/notifications/chat/test`;
      await http.json({ method: 'POST', path, body: {}, signal }, isDelivered);
    },
  };
}

async function findByName(
  candidates: AsyncIterable<DeploymentView>,
  named: string,
): Promise<DeploymentView> {
  const all: DeploymentView[] = [];
  for await (const candidate of candidates) if (candidate.name === named) all.push(candidate);
  const found = preferUsable(all);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  throw first === undefined
    ? new ClientError({ code: 'not_found', status: 404, message: `no deployment ${named}` })
    : new ClientError({
        code: 'ambiguous',
        message: `${named} is the name of ${found.map(({ id }) => id).join(', ')}`,
      });
}
