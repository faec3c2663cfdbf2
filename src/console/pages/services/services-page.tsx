import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { listAll, NO_ROWS } from '../../api/list-all.ts';
import { useConsole } from '../../frame/state.ts';
import { listed } from '../../logic/format.ts';
import { toMcpCommand, toServiceCurl } from '../../logic/service-calls.ts';
import { toApiError, useLoad } from '../../parts/load.ts';
import { Ago, Command, Copy, Empty, Foot, Problem, State } from '../../parts/parts.tsx';
import '../../styles/services.css';

interface ServiceRow {
  id: string;
  name: string;
  slug: string | null;
  status: string;
  agent_id: string | null;
  protocols: string[];
  urls: Record<string, string>;
  updated_at: string;
}

interface AgentRow {
  id: string;
  name: string;
  model: { id: string };
  tools: unknown[];
  version: number;
  updated_at: string;
  archived_at: string | null;
}

/** Page of Services and their addresses, how to call them, and their Agents. */
export function ServicesPage() {
  const { api } = useConsole();
  const { url, route } = useLocation();
  const open = new URL(url, location.origin).searchParams.get('open') ?? '';
  const { value, error } = useLoad(async (signal) => {
    const [services, agents] = await Promise.all([
      listAll<ServiceRow>(api, '/v1/endpoints', { signal }),
      listAll<AgentRow>(api, '/v1/agents', { signal }),
    ]);
    return { services, agents };
  }, []);
  if (error.value && !value.value) return <Problem error={error.value} />;
  const { services: all = NO_ROWS, agents = NO_ROWS } = value.value ?? {};
  const { rows: services } = all;
  const names = new Map(agents.rows.map(({ id, name }) => [id, name]));
  const opened = services.find(({ id }) => id === open);
  return (
    <div class="page">
      <div class="head">
        <h1>Services and Agents</h1>
      </div>
      <div class="split">
        <div class="list scroll padded">
          {value.value && services.length === 0 && (
            <Empty title="No Service yet" command="gateway init --template agent-service">
              A Service publishes an Agent over REST, MCP and ACP.
            </Empty>
          )}
          {services.length > 0 && (
            <table class="table">
              <thead>
                <tr>
                  <th>Service</th>
                  <th>State</th>
                  <th>Agent</th>
                  <th>Published as</th>
                </tr>
              </thead>
              <tbody>
                {services.map((row) => (
                  <tr
                    key={row.id}
                    aria-selected={row.id === open}
                    onClick={() => route(`/console/services?open=${row.id}`)}
                  >
                    <td>
                      <a href={`/console/services?open=${row.id}`}>{row.name}</a>
                    </td>
                    <td>
                      <State tone={row.status === 'active' ? 'good' : 'dim'}>{row.status}</State>
                    </td>
                    <td>{names.get(row.agent_id ?? '') ?? 'of its own'}</td>
                    <td>{row.protocols.join(', ')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <Agents agents={agents.rows} />
        </div>
        {opened && (
          <ServiceDetail key={opened.id} row={opened} onClose={() => route('/console/services')} />
        )}
      </div>
      <Foot
        command={
          opened
            ? `gateway invoke ${opened.slug ?? opened.id} "Hello" --follow`
            : 'gateway services list'
        }
      >
        {listed(all, 'Service')}, {listed(agents, 'Agent')}
      </Foot>
    </div>
  );
}

function Agents({ agents }: { agents: readonly AgentRow[] }) {
  if (agents.length === 0) return null;
  return (
    <table class="table agents">
      <thead>
        <tr>
          <th>Agent</th>
          <th>Model</th>
          <th class="right">Tool sets</th>
          <th class="right">Version</th>
          <th>Changed</th>
        </tr>
      </thead>
      <tbody>
        {agents.map((row) => (
          <tr key={row.id}>
            <td>{row.name}</td>
            <td>
              <a href={`/console/explain?model=${encodeURIComponent(row.model.id)}`}>
                {row.model.id}
              </a>
            </td>
            <td class="right">{row.tools.length}</td>
            <td class="right">{row.version}</td>
            <td>
              <Ago at={row.updated_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Instructions to call one Service, and a call of it. */
function ServiceDetail({ row, onClose }: { row: ServiceRow; onClose(): void }) {
  const { api, apiOrigin } = useConsole();
  const { route } = useLocation();
  const text = useSignal('');
  const problem = useSignal('');
  const call = async (): Promise<void> => {
    try {
      const body = { input: text.value };
      const { session_id: session } = await api.json<{ session_id: string }>(
        `/v1/endpoints/${row.id}/run`,
        { method: 'POST', body },
      );
      route(`/console/sessions/${session}`);
    } catch (thrown) {
      problem.value = toApiError(thrown).message;
    }
  };
  const rest = toServiceCurl(row, apiOrigin());
  return (
    <aside class="detail" aria-label={`Service ${row.name}`}>
      <div class="title">
        <h2 class="grow">{row.name}</h2>
        <Copy text={row.id} label="Copy id" />
        <button type="button" class="button small plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      {row.protocols.includes('rest') && (
        <section class="stack">
          <h3>Try it here</h3>
          {problem.value && <Problem error={problem.value} />}
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              void call();
            }}
          >
            <input
              class="input grow"
              aria-label="Message"
              placeholder="Message"
              required
              value={text.value}
              onInput={({ currentTarget }) => (text.value = currentTarget.value)}
            />
            <button type="submit" class="button main">
              Send
            </button>
          </form>
          <div class="row">
            <h3 class="grow">REST</h3>
            <Copy text={rest} />
          </div>
          <pre tabIndex={0} class="code">
            {rest}
          </pre>
        </section>
      )}
      {row.protocols.includes('mcp') && (
        <section class="stack">
          <h3>MCP</h3>
          <Command line={toMcpCommand(row, apiOrigin())} />
        </section>
      )}
      {row.protocols.includes('acp') && (
        <section class="stack">
          <h3>ACP</h3>
          <Command line={`gateway acp ${row.slug ?? row.id}`} />
        </section>
      )}
    </aside>
  );
}
