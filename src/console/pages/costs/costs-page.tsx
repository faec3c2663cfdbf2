import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Page } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { daysBetween, forecast, toRows, toSeries } from '../../logic/cost-series.ts';
import { DIMENSIONS, PERIODS, readCosts, toSum, writeCosts } from '../../logic/costs-view.ts';
import type { CostsView, UsageReportRow } from '../../logic/costs-view.ts';
import { count, counted, money, percent } from '../../logic/format.ts';
import { useLoad } from '../../parts/load.ts';
import { Empty, Foot, Problem, Share } from '../../parts/parts.tsx';
import { CostChart } from './cost-chart.tsx';
import { CostTable } from './cost-table.tsx';
import '../../styles/costs.css';

interface Limited {
  id: string;
  name: string;
  spending_limit: { lifetime?: string; month?: string; day?: string } | null;
}

/** What was spent, by whom and on what, against which limits. */
export function CostsPage() {
  const { api, isAdmin, session } = useConsole();
  const { url, route } = useLocation();
  const today = new Date().toISOString().slice(0, 10);
  const view = readCosts(new URL(url, location.origin).search, today);
  const change = (part: Partial<CostsView>): void =>
    route(`/console/costs${writeCosts({ ...view, ...part }, today)}`, true);
  const by = DIMENSIONS.find(({ id }) => id === view.by) ?? DIMENSIONS[0];
  const from = view.first < `${today.slice(0, 7)}-01` ? view.first : `${today.slice(0, 7)}-01`;
  const report = useLoad(
    async (signal) => {
      const query = { group_by: `day,${by.group}`, from };
      const path = isAdmin() ? '/admin/v1/usage' : '/v1/account/usage';
      return (await api.json<Page<UsageReportRow>>(path, { query, signal })).data;
    },
    [by.group, from],
  );
  const owners = useLoad(
    async (signal) =>
      isAdmin()
        ? await Promise.all(
            ['keys', 'organizations'].map(async (kind) => {
              const query = { limit: 1_000 };
              return (await api.json<Page<Limited>>(`/admin/v1/${kind}`, { query, signal })).data;
            }),
          )
        : [[], []],
    [],
  );
  const named = owners.value.value?.flat() ?? [];
  const own = named.find(({ id }) => id === session.value?.organization.id);
  const sums = useMemo(() => {
    const nameOf = new Map(named.map(({ id, name }) => [id, name]));
    return (report.value.value ?? []).map((row) => toSum(row, by, nameOf));
  }, [report.value.value, named.length, by]);
  const inView = sums.filter(({ day }) => day >= view.first && day <= view.last);
  const days = daysBetween(view.chartFirst, view.chartLast);
  const data = useMemo(() => toSeries(sums, days), [sums, view.chartFirst, view.chartLast]);
  if (report.error.value) return <Problem error={report.error.value} />;
  const byDay = new Map<string, number>();
  for (const { day, cost } of sums) byDay.set(day, (byDay.get(day) ?? 0) + cost);
  const end = forecast(byDay, Date.now());
  const rows = toRows(inView);
  return (
    <div class="page">
      <CostsBar view={view} change={change} />
      <div class="body padded stack wide">
        <Totals
          end={end}
          sums={sums}
          month={today.slice(0, 7)}
          limit={own?.spending_limit?.month}
        />
        {report.value.value?.length === 0 ? (
          <Empty title="Nothing was spent in this time" command='gateway chat MODEL "Hello"'>
            Costs appear here with the first request of a model that has a price.
          </Empty>
        ) : (
          <>
            <CostChart
              data={data}
              dayLimit={numberOf(own?.spending_limit?.day)}
              perDay={view.chartLast > today ? end.perDay : 0}
              today={today}
              onSelect={(first, last) => change({ first, last })}
            />
            <CostTable
              rows={rows}
              by={by}
              view={view}
              limits={named}
              onWhole={() => change({ first: view.chartFirst, last: view.chartLast })}
            />
          </>
        )}
      </div>
      <Foot command={`gateway usage --by ${by.group} --from ${view.first} --to ${view.last}`}>
        UTC days.{' '}
        {counted(
          rows.reduce((sum, { requests }) => sum + requests, 0),
          'request',
        )}
      </Foot>
    </div>
  );
}

/** Dimension and time. */
function CostsBar({ view, change }: { view: CostsView; change(part: Partial<CostsView>): void }) {
  const { isAdmin } = useConsole();
  const { route } = useLocation();
  return (
    <div class="head">
      <h1>Costs</h1>
      <div class="row" role="group" aria-label="By">
        {DIMENSIONS.filter(({ isAdmin: needs }) => !needs || isAdmin()).map(({ id, title }) => (
          <button
            key={id}
            type="button"
            class="button"
            aria-pressed={id === view.by}
            onClick={() => change({ by: id })}
          >
            {title}
          </button>
        ))}
      </div>
      <span class="grow" />
      <select
        class="input"
        aria-label="Time"
        value={view.period}
        onChange={({ currentTarget }) =>
          route(`/console/costs?by=${view.by}&period=${currentTarget.value}`, true)
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

function numberOf(limit: string | undefined): number | undefined {
  return limit === undefined || limit === null ? undefined : Number(limit);
}

interface TotalsProps {
  readonly end: ReturnType<typeof forecast>;
  readonly sums: readonly { readonly day: string; readonly unpriced: number }[];
  readonly month: string;
  readonly limit: string | undefined;
}

/** The month in one line: spent, its end as it looks now, the limit, and what nobody knows the price of. */
function Totals({ end, sums, month, limit }: TotalsProps) {
  const unpriced = sums.reduce(
    (sum, row) => (row.day.startsWith(month) ? sum + row.unpriced : sum),
    0,
  );
  const most = numberOf(limit);
  return (
    <dl class="totals">
      <div>
        <dt>Month to date</dt>
        <dd>{money(end.spent)}</dd>
      </div>
      <div>
        <dt>Forecast of the month</dt>
        <dd class={most !== undefined && end.total > most ? 'bad' : ''}>{money(end.total)}</dd>
      </div>
      <div>
        <dt>Limit of the month</dt>
        <dd>
          {most === undefined ? (
            <span class="dim">none</span>
          ) : (
            <>
              {money(most)} <small class="dim">{percent(end.spent / most)} spent</small>
              <Share
                of={end.spent}
                limit={most}
                label={`${percent(end.spent / most)} of the limit`}
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
