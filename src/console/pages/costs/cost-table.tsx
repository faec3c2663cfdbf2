import { toCsv } from '../../logic/cost-series.ts';
import type { CostRow, UsageSum } from '../../logic/cost-series.ts';
import type { CostsView, Dimension } from '../../logic/costs-view.ts';
import { compact, count, money, percent } from '../../logic/format.ts';
import { toRequestsOf } from '../../logic/requests-view.ts';
import { Share } from '../../parts/parts.tsx';

interface CostTableProps {
  readonly rows: readonly CostRow[];
  readonly view: CostsView;
  /** Dollars of a month that a value of the dimension may spend. */
  readonly limits: ReadonlyMap<string, string>;
  /** Sums of the running month by value. */
  readonly ofMonth: ReadonlyMap<string, UsageSum>;
  readonly onWhole: () => void;
}

/** A row as it is shown and saved. */
interface Line extends CostRow {
  readonly limit: string | undefined;
  /** Dollars of the running month. */
  readonly spent: number;
  /** True: requests, and no price of any. */
  readonly isUnknown: boolean;
}

/** The numbers of the chart; each leads to the requests that it is made of. */
export function CostTable({ rows, view, limits, ofMonth, onWhole }: CostTableProps) {
  const { by } = view;
  const isPart = view.first !== view.chartFirst || view.last !== view.chartLast;
  const lines = rows.map((row): Line => {
    const isUnknown = row.cost === 0 && row.unpriced > 0;
    return {
      ...row,
      limit: limits.get(row.value),
      spent: ofMonth.get(row.value)?.cost ?? 0,
      isUnknown,
    };
  });
  const hasLimits = by.isLimited === true && lines.some(({ limit }) => limit !== undefined);
  return (
    <section>
      <div class="row table-head">
        <h2>
          {view.first} to {view.last}
        </h2>
        {isPart && (
          <button type="button" class="button small" onClick={onWhole}>
            Show all days
          </button>
        )}
        <span class="grow" />
        <button type="button" class="button small" onClick={() => save(lines, view, hasLimits)}>
          Save as CSV
        </button>
      </div>
      <table class="table" aria-label={`Costs by ${by.title}`}>
        <thead>
          <tr>
            <th>{by.title}</th>
            <th class="right">Requests</th>
            <th class="right">Failed</th>
            <th class="right">Input tokens</th>
            <th class="right">Output tokens</th>
            <th class="right">Unpriced</th>
            {hasLimits && <th>Spent of the limit of this month</th>}
            <th class="right">Cost</th>
            <th class="right">Share</th>
            <th class="share">
              <span class="hidden">Share as a bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.value}>
              <td>
                <Name by={by} row={line} />
              </td>
              <td class="right">{count(line.requests)}</td>
              <td class={`right${line.errors > 0 ? ' bad' : ' dim'}`}>{count(line.errors)}</td>
              <td class="right">{compact(line.input)}</td>
              <td class="right">{compact(line.output)}</td>
              <td class={`right${line.unpriced > 0 ? ' bad' : ' dim'}`}>{count(line.unpriced)}</td>
              {hasLimits && (
                <td>
                  {line.limit === undefined ? (
                    <span class="dim">no limit</span>
                  ) : (
                    `${money(line.spent)} of ${money(line.limit)}, ${percent(line.spent / Number(line.limit))}`
                  )}
                </td>
              )}
              <td class="right">
                {line.isUnknown ? <span class="bad">unpriced</span> : money(line.cost)}
              </td>
              <td class="right">{line.isUnknown ? '' : percent(line.share)}</td>
              <td>{!line.isUnknown && <Share of={line.share} label={percent(line.share)} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Name({ by, row }: { by: Dimension; row: CostRow }) {
  const { name, value } = row;
  if (value === '') return <span class="dim">{name}</span>;
  const code = by.isLong ? <code>{name}</code> : name;
  if (!by.field || (by.isLong && value === 'other')) return code;
  return <a href={toRequestsOf(by.field, name)}>{code}</a>;
}

/** Saves the shown rows; unknown amounts stay empty. */
function save(lines: readonly Line[], { by, first, last }: CostsView, hasLimits: boolean): void {
  const head = [
    by.id,
    'requests',
    'failed',
    'input_tokens',
    'output_tokens',
    'unpriced',
    ...(hasLimits ? ['spent_of_month_usd', 'limit_of_month_usd'] : []),
    'cost_usd',
    'share',
  ];
  const cells = lines.map((line) => [
    line.name,
    line.requests,
    line.errors,
    line.input,
    line.output,
    line.unpriced,
    ...(hasLimits ? limited(line) : []),
    line.isUnknown ? '' : dollars(line.cost),
    line.isUnknown ? '' : Number(line.share.toFixed(4)),
  ]);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([toCsv(head, cells)], { type: 'text/csv' }));
  link.download = `costs-by-${by.id.replace(':', '-')}-${first}-${last}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

function limited({ limit, spent }: Line): (number | string)[] {
  return limit === undefined ? ['', ''] : [dollars(spent), Number(limit)];
}

const dollars = (amount: number): number => Number(amount.toFixed(9));
