import type { Page } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { useLoad } from '../../parts/load.ts';
import { Problem, State } from '../../parts/parts.tsx';

interface ProviderRow {
  id: string;
  name: string;
  provider_type: string;
  base_url: string | null;
  enabled: boolean;
  labels: Record<string, string>;
}

/** Members of the gateway's report on itself that are told as they come. */
type Status = Record<string, unknown>;

/** Providers, and what the gateway says of itself. */
export function Operation() {
  const { api } = useConsole();
  const providers = useLoad(
    async (signal) =>
      (
        await api.json<Page<ProviderRow>>('/admin/v1/providers', {
          query: { limit: 1_000 },
          signal,
        })
      ).data,
    [],
  );
  const status = useLoad((signal) => api.json<Status>('/admin/v1/status', { signal }), []);
  const facts = Object.entries(status.value.value ?? {}).filter(
    ([, value]) => typeof value !== 'object',
  );
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
            </tr>
          </thead>
          <tbody>
            {providers.value.value?.map((row) => (
              <tr key={row.id}>
                <td>
                  <a href={`/console/requests?q=provider:${encodeURIComponent(row.name)}`}>
                    {row.name}
                  </a>
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
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section>
        <h2>Gateway</h2>
        {facts.length > 0 ? (
          <dl class="facts">
            {facts.map(([name, value]) => (
              <>
                <dt>{name.replaceAll('_', ' ')}</dt>
                <dd>{value as string}</dd>
              </>
            ))}
          </dl>
        ) : (
          <p class="dim">
            This gateway does not report on itself here; <code>gateway doctor</code> does.
          </p>
        )}
      </section>
    </div>
  );
}
