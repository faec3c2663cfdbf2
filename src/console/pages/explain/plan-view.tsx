import type { ModelPricing, ModelRow, Plan, PlanLine } from '../../../client/models.ts';
import { useConsole } from '../../frame/state.ts';
import { orderWithout, priceOf } from '../../logic/explain-routes.ts';
import { NONE, dateTime, duration, money, percent, relative } from '../../logic/format.ts';
import { State } from '../../parts/parts.tsx';

interface PlanViewProps {
  readonly plan: Plan;
  readonly model: ModelRow | undefined;
  /** Providers that are taken as failing. */
  readonly without: readonly string[];
  readonly onWithout: (names: string[]) => void;
}

/** Routes in the order in which they would be tried, and those that would not be. */
export function PlanView({ plan, model, without, onWithout }: PlanViewProps) {
  const routes = orderWithout(plan.candidates, without);
  const toggle = (name: string): void =>
    onWithout(without.includes(name) ? without.filter((one) => one !== name) : [...without, name]);
  return (
    <>
      <section>
        <div class="row table-head">
          <h2>Tried in this order</h2>
          <span class="dim">strategy {plan['strategy'] as string}</span>
          {plan.resolved_by && plan.resolved_by.length > 0 && plan.asked !== plan.model && (
            <span class="dim">
              {plan.asked} →{' '}
              {plan.resolved_by.map(({ gives, rule }) => `${gives} (${rule})`).join(' → ')}
            </span>
          )}
        </div>
        <table class="table">
          <thead>
            <tr>
              <th class="right">#</th>
              <th>Provider</th>
              <th>Upstream model</th>
              <th>Speaks</th>
              <th class="right">Priority</th>
              <th class="right">Weight</th>
              <th class="right">Share</th>
              <th>Health</th>
              <th class="right">First content</th>
              <th class="right">In, per 1M</th>
              <th class="right">Out, per 1M</th>
              <th>Why</th>
              <th>What if</th>
            </tr>
          </thead>
          <tbody>
            {routes.map(({ line, place }, index) => (
              <tr key={index} class={place === undefined ? 'taken' : ''}>
                <td class="right">{place ?? NONE}</td>
                <td>{line.provider}</td>
                <td>{line.upstream_model}</td>
                <td>
                  {line.protocol === plan.protocol ? (
                    line.protocol
                  ) : (
                    <span class="tag warn">{line.protocol} translated</span>
                  )}
                </td>
                <Numbers line={line} model={model} />
                <td class="wide-cell">{line.why}</td>
                <td>
                  <button
                    type="button"
                    class="button small"
                    aria-pressed={without.includes(line.provider)}
                    onClick={() => toggle(line.provider)}
                  >
                    {line.provider} fails
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {routes.every(({ place }) => place === undefined) && (
          <p class="problem">
            No route is left: a request would be answered with 503 no_route_succeeded.
          </p>
        )}
      </section>
      <Losses plan={plan} model={model} />
      {plan.left_out.length > 0 && (
        <section>
          <h2>Left out</h2>
          <table class="table">
            <thead>
              <tr>
                <th>Provider</th>
                <th>Upstream model</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              {plan.left_out.map((line, index) => (
                <tr key={index}>
                  <td>{line.provider}</td>
                  <td>{line.upstream_model}</td>
                  <td>{line.why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

function Numbers({ line, model }: { line: PlanLine; model: ModelRow | undefined }) {
  const { health } = line;
  const route = model?.routes?.find(
    ({ provider, upstream_model: upstream }) =>
      provider === line.provider && upstream === line.upstream_model,
  );
  const prices = line.pricing ?? route?.pricing ?? model?.pricing;
  return (
    <>
      <td class="right">{line['priority'] as number}</td>
      <td class="right">{line['weight'] as number}</td>
      <td class="right">{percent(line['share'] as number | null)}</td>
      <td>
        <Health health={health} />
      </td>
      <td class="right">{duration(health.latency_ms)}</td>
      <td class="right">{price(prices, 'input')}</td>
      <td class="right">{price(prices, 'output')}</td>
    </>
  );
}

function price(prices: ModelPricing | undefined, name: string) {
  const amount = priceOf(prices, name);
  return amount === null ? <span class="bad">unpriced</span> : money(amount);
}

function Health({
  health,
}: {
  health: PlanLine['health'] & { until?: string | null; consecutive_faults?: number };
}) {
  const { now } = useConsole();
  const { state, until, consecutive_faults: faults = 0 } = health;
  if (state === 'cooled' && until)
    return (
      <State tone="bad">
        <span title={dateTime(Date.parse(until))}>
          cooled down, ends {relative(Date.parse(until), now.value)}
        </span>
      </State>
    );
  if (state === 'probing') return <State tone="warn">on trial</State>;
  return <State tone="good">{faults > 0 ? `available, ${faults} faults` : 'available'}</State>;
}

/** Fields of a client that are lost where its protocol is translated. */
function Losses({ plan, model }: { plan: Plan; model: ModelRow | undefined }) {
  const { protocols } = (model ?? {}) as { protocols?: unknown };
  const ways =
    protocols && !Array.isArray(protocols)
      ? (protocols as Record<string, { loses: string[] }[]>)[plan.protocol]
      : undefined;
  const lost = [...new Set(ways?.flatMap(({ loses }) => loses) ?? [])];
  if (lost.length === 0) return null;
  return (
    <section>
      <h2>Lost in translation</h2>
      <p class="losses-line">
        {lost.map((name) => (
          <code key={name} class="tag">
            {name}
          </code>
        ))}
      </p>
    </section>
  );
}
