import { listAll } from '../../api/list-all.ts';
import { useConsole } from '../../frame/state.ts';
import { counted, listed } from '../../logic/format.ts';
import { toRequestsOf } from '../../logic/requests-view.ts';
import { useLoad } from '../../parts/load.ts';
import { Ago, Problem, State } from '../../parts/parts.tsx';

interface ProviderRow {
  id: string;
  name: string;
  provider_type: string;
  base_url: string | null;
  enabled: boolean;
  labels: Record<string, string>;
}

/** The gateway's report on itself. */
interface Status {
  version: string;
  node: string;
  store: { driver: string; scope: string; state: string; warnings: string[] };
  workers: { id: string; since: string }[];
  providers: { name: string; routes: { model: string; state: string }[] }[];
}

/** Providers, and the gateway's own state. */
export function Operation() {
  const { api } = useConsole();
  const providers = useLoad(
    (signal) => listAll<ProviderRow>(api, '/admin/v1/providers', { signal }),
    [],
  );
  const status = useLoad((signal) => api.json<Status>('/admin/v1/status', { signal }), []);
  const all = providers.value.value;
  const told = status.value.value;
  const routesOf = new Map(told?.providers.map(({ name, routes }) => [name, routes]));
  return (
    <div class="halves">
      <section>
        <h2>Providers</h2>
        {providers.error.value && <Problem error={providers.error.value} />}
        <table class="table">
          <thead>
            <tr>
              <th>Name</th>
              <th>Type</th>
              <th>Address</th>
              <th>State</th>
              <th>Routes</th>
            </tr>
          </thead>
          <tbody>
            {all?.rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <a href={toRequestsOf('provider', row.name, '24h')}>{row.name}</a>
                </td>
                <td>{row.provider_type}</td>
                <td class="cut wide-cell">
                  {row.base_url ?? <span class="dim">the vendor's</span>}
                </td>
                <td>
                  {row.enabled ? (
                    <State tone="good">enabled</State>
                  ) : (
                    <State tone="dim">disabled</State>
                  )}
                </td>
                <td>
                  <Routes routes={routesOf.get(row.name) ?? []} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {all?.isCut && <p class="dim">{listed(all, 'provider')}</p>}
      </section>
      <section>
        <h2>Gateway</h2>
        {told ? (
          <dl class="facts">
            <dt>Version</dt>
            <dd>
              {told.version} <span class="dim">on Node {told.node}</span>
            </dd>
            <dt>Store</dt>
            <dd>
              <State tone={told.store.state === 'ok' ? 'good' : 'bad'}>
                {told.store.driver}, {told.store.state}
              </State>
            </dd>
            {told.store.warnings.length > 0 && (
              <>
                <dt>Store warns</dt>
                <dd class="warn">{told.store.warnings.join('; ')}</dd>
              </>
            )}
            {told.workers.map(({ id, since }) => (
              <>
                <dt>Worker</dt>
                <dd>
                  <code>{id}</code> since <Ago at={since} />
                </dd>
              </>
            ))}
          </dl>
        ) : (
          status.error.value && <Problem error={status.error.value} />
        )}
      </section>
    </div>
  );
}

/** Number of routes, and of those that are cooled down. */
function Routes({ routes }: { routes: Status['providers'][number]['routes'] }) {
  const down = routes.filter(({ state }) => state !== 'available');
  if (down.length === 0) return <span class="dim">{counted(routes.length, 'route')}</span>;
  return (
    <State tone="bad">
      {down.length} of {routes.length} cooled down
    </State>
  );
}
