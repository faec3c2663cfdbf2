import type { CostRow } from '../../logic/cost-series.ts';
import { toCsv } from '../../logic/cost-series.ts';
import type { CostsView, Dimension } from '../../logic/costs-view.ts';
import { compact, count, money, percent } from '../../logic/format.ts';
import { Share } from '../../parts/parts.tsx';

interface CostTableProps {
  readonly rows: readonly CostRow[];
  readonly by: Dimension;
  readonly view: CostsView;
  readonly limits: readonly { name: string; spending_limit: { month?: string } | null }[];
  readonly onWhole: () => void;
}

/** The numbers behind the chart; each leads to the requests that it is made of. */
export function CostTable({ rows, by, view, limits, onWhole }: CostTableProps) {
  const isPart = view.first !== view.chartFirst || view.last !== view.chartLast;
  const limitOf = new Map(limits.map(({ name, spending_limit: limit }) => [name, limit?.month]));
  const hasLimits =
    (by.id === 'key' || by.id === 'organization') && rows.some(({ name }) => limitOf.get(name));
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
        <button type="button" class="button small" onClick={() => save(rows, by, view)}>
          Save as CSV
        </button>
      </div>
      <table class="table">
        <thead>
          <tr>
            <th>{by.title}</th>
            <th class="right">Requests</th>
            <th class="right">Failed</th>
            <th class="right">Input tokens</th>
            <th class="right">Output tokens</th>
            <th class="right">Unpriced</th>
            {hasLimits && <th>Spent of the limit of a month</th>}
            <th class="right">Cost</th>
            <th class="right">Share</th>
            <th class="share">
              <span class="hidden">Share as a bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const limit = limitOf.get(row.name);
            return (
              <tr key={row.name}>
                <td>{by.field ? <a href={linkOf(by, row.name)}>{row.name}</a> : row.name}</td>
                <td class="right">{count(row.requests)}</td>
                <td class={`right${row.errors > 0 ? ' bad' : ' dim'}`}>{count(row.errors)}</td>
                <td class="right">{compact(row.input)}</td>
                <td class="right">{compact(row.output)}</td>
                <td class={`right${row.unpriced > 0 ? ' bad' : ' dim'}`}>{count(row.unpriced)}</td>
                {hasLimits && (
                  <td>
                    {limit ? (
                      `${percent(row.cost / Number(limit))} of ${money(limit)}`
                    ) : (
                      <span class="dim">no limit</span>
                    )}
                  </td>
                )}
                <td class="right">
                  {row.cost === 0 && row.unpriced > 0 ? (
                    <span class="bad">unpriced</span>
                  ) : (
                    money(row.cost)
                  )}
                </td>
                <td class="right">{percent(row.share)}</td>
                <td>
                  <Share of={row.share} limit={1.001} label={percent(row.share)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function linkOf(by: Dimension, name: string): string {
  const value = by.id === 'vendor' ? `${name}/*` : name;
  return `/console/requests?last=&q=${encodeURIComponent(`${by.field}:${/\s/.test(value) ? `"${value}"` : value}`)}`;
}

/** Saves what is seen. */
function save(rows: readonly CostRow[], by: Dimension, { first, last }: CostsView): void {
  const head = [
    by.id,
    'requests',
    'failed',
    'input_tokens',
    'output_tokens',
    'unpriced',
    'cost_usd',
  ];
  const lines = rows.map((row) => [
    row.name,
    row.requests,
    row.errors,
    row.input,
    row.output,
    row.unpriced,
    Number(row.cost.toFixed(9)),
  ]);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([toCsv(head, lines)], { type: 'text/csv' }));
  link.download = `costs-by-${by.id}-${first}-${last}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}
