import { useConsole } from '../../frame/state.ts';
import type { MonthForecast } from '../../logic/cost-series.ts';
import { count, money, percent } from '../../logic/format.ts';
import { Ago, Share } from '../../parts/parts.tsx';
import type { Limits } from './use-limits.ts';

interface TotalsProps {
  readonly forecast: MonthForecast | null | undefined;
  readonly limits: Limits | undefined;
}

/** The month in one line: spent, its end as it looks now, the limit, and the unpriced calls. */
export function Totals({ forecast, limits }: TotalsProps) {
  const { session } = useConsole();
  const { unpriced = 0 } = forecast ?? {};
  const [most, spent] = [limits?.own.limit.month, Number(limits?.own.spent.month ?? 0)];
  return (
    <dl class="totals">
      <div>
        <dt>Month to date</dt>
        <dd>{money(forecast?.spent)}</dd>
      </div>
      <div>
        <dt>Forecast of the month</dt>
        <dd>{money(forecast?.cost)}</dd>
      </div>
      <div>
        <dt>Limit of the month, {session.value?.organization.name}</dt>
        <dd>
          {most === undefined || most === null ? (
            <span class="dim">none</span>
          ) : (
            <>
              {money(spent)} <small class="dim">of {money(most)}, </small>
              <small class="dim">{percent(spent / Number(most))} spent</small>
              <Share
                of={spent}
                limit={Number(most)}
                label={`${percent(spent / Number(most))} of the limit`}
              />
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Unpriced</dt>
        <dd class={unpriced > 0 ? 'bad' : ''}>
          {unpriced > 0 ? (
            <a href="/console/requests?last=&q=cost:unpriced">{count(unpriced)} requests</a>
          ) : (
            '0 requests'
          )}
        </dd>
      </div>
    </dl>
  );
}

/** Budgets with their spend; nothing where there are none. */
export function BudgetTable({ limits }: { limits: Limits | undefined }) {
  if (!limits || limits.budgets.length === 0) return null;
  return (
    <section>
      <h2>Budgets</h2>
      <table class="table" aria-label="Budgets">
        <thead>
          <tr>
            <th>Budget</th>
            <th>Per</th>
            <th>Begins again</th>
            <th class="right">Amount</th>
            <th class="right">Spent</th>
            <th class="right">Share</th>
            <th class="share">
              <span class="hidden">Share as a bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {limits.budgets.map((budget) => {
            const { id, name, per, amount, spent, enabled, resets_at: resets } = budget;
            const share = percent(Number(spent) / Number(amount));
            return (
              <tr key={id}>
                <td>
                  {name} {!enabled && <span class="dim">disabled</span>}
                </td>
                <td>{per}</td>
                <td>{resets === null ? <span class="dim">never</span> : <Ago at={resets} />}</td>
                <td class="right">{money(amount)}</td>
                <td class="right">{money(spent)}</td>
                <td class="right">{share}</td>
                <td>
                  <Share
                    of={Number(spent)}
                    limit={Number(amount)}
                    marks={budget.alerts_at}
                    label={share}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
