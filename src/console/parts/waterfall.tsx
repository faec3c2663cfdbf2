import { useSignal } from '@preact/signals';
import type { RequestRow } from '../api/views.ts';
import { duration } from '../logic/format.ts';
import { placeOf, ticksOf, toWaterfall } from '../logic/waterfall.ts';
import type { Span } from '../logic/waterfall.ts';

/** Ratio of the whole to the shortest stretch from which the logarithmic axis is the better one. */
const WIDE = 400;

/** Chart of where the time of a request went; to a screen reader it is a table. */
export function WaterfallChart({ row, now }: { row: RequestRow; now: number }) {
  const { spans, total } = toWaterfall(row, now);
  const shortest = Math.min(
    ...spans.map(({ from, to }) => to - from).filter((ms) => ms > 0),
    total,
  );
  const chosen = useSignal<boolean | undefined>(undefined);
  const isLog = chosen.value ?? total / shortest > WIDE;
  return (
    <figure class="waterfall">
      <table>
        <caption class="hidden">Stretches of the request</caption>
        <thead>
          <tr>
            <th>
              <span class="hidden">Stretch</span>
            </th>
            <th class="ticks">
              <span class="hidden">From and to</span>
              {ticksOf(total, isLog).map((tick) => (
                <i
                  key={tick}
                  aria-hidden="true"
                  style={{ left: `${placeOf(tick, total, isLog) * 100}%` }}
                >
                  {tick === 0 ? '0' : duration(tick)}
                </i>
              ))}
            </th>
            <th class="right took">
              <span class="hidden">Took</span>
            </th>
            <th class="note">
              <span class="hidden">Outcome</span>
              <button
                type="button"
                class="button small plain"
                aria-pressed={isLog}
                title="Logarithmic axis: shows 2 ms beside 20 min"
                onClick={() => (chosen.value = !isLog)}
              >
                log
              </button>
            </th>
          </tr>
        </thead>
        <tbody>
          {spans.map((span, index) => (
            <Row key={index} span={span} total={total} isLog={isLog} />
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function Row({ span, total, isLog }: { span: Span; total: number; isLog: boolean }) {
  const left = placeOf(span.from, total, isLog) * 100;
  const right = placeOf(span.to, total, isLog) * 100;
  const content =
    span.content === undefined ? undefined : placeOf(span.content, total, isLog) * 100;
  return (
    <tr>
      <th scope="row" class="cut" title={span.name}>
        {span.name}
      </th>
      <td class="lane">
        <span class="hidden">
          {duration(span.from)} to {duration(span.to)}
          {span.content !== undefined && `, first content after ${duration(span.content)}`}
        </span>
        <span
          aria-hidden="true"
          class={`stretch ${span.kind}`}
          style={{ left: `${left}%`, width: `max(2px, ${right - left}%)` }}
        />
        {content !== undefined && (
          <span
            aria-hidden="true"
            class="stretch content"
            style={{ left: `${content}%`, width: `max(1px, ${right - content}%)` }}
          />
        )}
      </td>
      <td class="right took">{duration(span.to - span.from)}</td>
      <td class={`note cut ${span.kind === 'failed' ? 'bad' : 'dim'}`} title={span.note}>
        {span.note}
      </td>
    </tr>
  );
}
