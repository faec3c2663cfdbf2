import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { MOST_ROWS } from '../../api/list-all.ts';
import { useConsole } from '../../frame/state.ts';
import { daysBetween, expectedOfDay, toRows, toSeries } from '../../logic/cost-series.ts';
import {
  dimensionOf,
  PERIODS,
  readCosts,
  toUsageCommand,
  writeCosts,
} from '../../logic/costs-view.ts';
import type { CostsView, Dimension } from '../../logic/costs-view.ts';
import { count, counted } from '../../logic/format.ts';
import { Empty, Foot, Problem } from '../../parts/parts.tsx';
import { CostChart } from './cost-chart.tsx';
import { CostTable } from './cost-table.tsx';
import { BudgetTable, Totals } from './totals.tsx';
import { useCosts } from './use-costs.ts';
import { useLimits } from './use-limits.ts';
import '../../styles/costs.css';

/** Page of spending, by whom and on what, against which limits. */
export function CostsPage() {
  const { isAdmin } = useConsole();
  const { url, route } = useLocation();
  const today = new Date().toISOString().slice(0, 10);
  const view = readCosts(new URL(url, location.origin).search, today);
  const change = (part: Partial<CostsView>): void =>
    route(`/console/costs${writeCosts({ ...view, ...part }, today)}`, true);
  const costs = useCosts(view, today.slice(0, 7));
  const { limits, error } = useLimits();
  const days = daysBetween(view.chartFirst, view.chartLast);
  const data = useMemo(
    () => toSeries(costs.byDay, days),
    [costs.byDay, view.chartFirst, view.chartLast],
  );
  const problem = costs.error ?? error;
  if (problem) return <Problem error={problem} />;
  const rows = toRows(costs.sums ?? []);
  const { forecast } = costs;
  return (
    <div class="page">
      <CostsBar view={view} dimensions={costs.dimensions} change={change} />
      <div class="body padded stack wide">
        <Totals forecast={forecast} limits={limits} />
        {costs.isEmpty ? (
          <Empty title="Nothing was spent in this time" command='gateway chat MODEL "Hello"'>
            Costs appear here with the first request of a model that has a price.
          </Empty>
        ) : (
          <>
            <CostChart
              data={data}
              dayLimit={numberOf(limits?.own.limit.day)}
              perDay={forecast && view.chartLast > today ? expectedOfDay(forecast, Date.now()) : 0}
              today={today}
              onSelect={(first, last) => change({ first, last })}
            />
            {costs.sums && (
              <CostTable
                rows={rows}
                view={view}
                limits={limits?.ofMonth ?? new Map()}
                ofMonth={costs.ofMonth}
                onWhole={() => change({ first: view.chartFirst, last: view.chartLast })}
              />
            )}
          </>
        )}
        <BudgetTable limits={limits} />
      </div>
      <Foot command={`${toUsageCommand(view)}${isAdmin() ? '' : ' --own'}`}>
        UTC days.{' '}
        {counted(
          rows.reduce((sum, { requests }) => sum + requests, 0),
          'request',
        )}
        {limits?.isCut && `. Limits are those of the first ${count(MOST_ROWS)} alone`}
      </Foot>
    </div>
  );
}

interface CostsBarProps {
  readonly view: CostsView;
  readonly dimensions: readonly Dimension[];
  change(part: Partial<CostsView>): void;
}

/** Dimension and time. */
function CostsBar({ view, dimensions, change }: CostsBarProps) {
  const { route } = useLocation();
  return (
    <div class="head">
      <h1>Costs</h1>
      <label class="row">
        by
        <select
          class="input"
          aria-label="By"
          value={view.by.id}
          onChange={({ currentTarget }) => {
            const by = dimensionOf(currentTarget.value);
            if (by) change({ by });
          }}
        >
          {dimensions.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <span class="grow" />
      <Day label="First day" day={view.first} onPick={(first) => change({ first })} />
      <Day label="Last day" day={view.last} onPick={(last) => change({ last })} />
      <select
        class="input"
        aria-label="Time"
        value={view.period}
        onChange={({ currentTarget }) =>
          route(`/console/costs?by=${view.by.id}&period=${currentTarget.value}`, true)
        }
      >
        {PERIODS.map(([id, title]) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}

/** An end of the table's range, which the chart sets by the pointer. */
function Day({ label, day, onPick }: { label: string; day: string; onPick(day: string): void }) {
  return (
    <input
      class="input"
      type="date"
      aria-label={label}
      value={day}
      onChange={({ currentTarget: { value } }) => value !== '' && onPick(value)}
    />
  );
}

function numberOf(limit: string | null | undefined): number | undefined {
  return limit === undefined || limit === null ? undefined : Number(limit);
}
