import { useLocation } from 'preact-iso';
import { toShellArguments, toShellWord } from '../../../core/shell-word.ts';
import type { ModelRow, Plan } from '../../../client/models.ts';
import type { Page } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { useLoad } from '../../parts/load.ts';
import { Empty, Foot, Problem } from '../../parts/parts.tsx';
import { Operation } from './operation.tsx';
import { PlanView } from './plan-view.tsx';
import '../../styles/explain.css';

const PROTOCOLS = ['chat', 'responses', 'messages', 'generate-content', 'interactions'] as const;

/** Page of the route that answers a model now, the reasons, and the state of the gateway itself. */
export function ExplainPage() {
  const { api } = useConsole();
  const { url, route } = useLocation();
  const query = new URL(url, location.origin).searchParams;
  const models = useLoad(
    async (signal) =>
      (
        await api.json<Page<ModelRow>>('/v1/models', {
          query: { details: 'true', type: '' },
          signal,
        })
      ).data,
    [],
  );
  const rows = models.value.value ?? [];
  const model = query.get('model') ?? rows[0]?.id ?? '';
  const protocol = query.get('protocol') ?? 'chat';
  const without = (query.get('without') ?? '').split(',').filter((name) => name !== '');
  const go = (part: Record<string, string>): void => {
    const next = new URLSearchParams({
      model,
      protocol,
      ...(without.length > 0 && { without: without.join(',') }),
      ...part,
    });
    if (next.get('without') === '') next.delete('without');
    route(`/console/explain?${next.toString()}`, true);
  };
  const plan = useLoad(
    async (signal) =>
      model === ''
        ? undefined
        : api.json<Plan>('/admin/v1/routing', { query: { model, protocol }, signal }),
    [model, protocol],
  );
  return (
    <div class="page">
      <div class="head">
        <h1>Explain</h1>
        <input
          class="input grow mono"
          data-filter
          list="models"
          aria-label="Model"
          placeholder="Model"
          value={model}
          onChange={({ currentTarget }) => go({ model: currentTarget.value, without: '' })}
        />
        <datalist id="models">
          {rows.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <select
          class="input"
          aria-label="Protocol of the client"
          value={protocol}
          onChange={({ currentTarget }) => go({ protocol: currentTarget.value })}
        >
          {PROTOCOLS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <div class="body padded stack wide">
        {models.value.value && rows.length === 0 && (
          <Empty title="No model yet" command="gateway init">
            A model of gateway.yaml maps a name to the routes that are explained here.
          </Empty>
        )}
        {plan.error.value ? (
          <Problem error={plan.error.value} />
        ) : (
          plan.value.value && (
            <PlanView
              plan={plan.value.value}
              model={rows.find(({ id }) => id === plan.value.value?.model)}
              without={without}
              onWithout={(names) => go({ without: names.join(',') })}
            />
          )
        )}
        <Operation />
      </div>
      <Foot
        command={`gateway models explain --protocol ${toShellWord(protocol)} ${toShellArguments(model || 'MODEL')}`}
      >
        As this process sees it now
      </Foot>
    </div>
  );
}
