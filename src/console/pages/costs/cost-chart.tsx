import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useConsole } from '../../frame/state.ts';
import { money } from '../../logic/format.ts';
import type { CostSeries } from '../../logic/cost-series.ts';

export interface CostChartProps {
  readonly data: CostSeries;
  /** Dollars of a day that an organization may spend; undefined for no limit. */
  readonly dayLimit: number | undefined;
  /** Dollars that are expected of each day from today on. */
  readonly perDay: number;
  readonly today: string;
  readonly onSelect: (first: string, last: string) => void;
}

const HEIGHT = 240;
const HATCH = 6;

/** Costs by day as stacked bars: the limit as a line, the expected cost outlined, unpriced hatched in red. */
export function CostChart(props: CostChartProps) {
  const { theme } = useConsole();
  const place = useRef<HTMLDivElement>(null);
  const { data } = props;
  useEffect(() => {
    const root = place.current;
    if (!root) return undefined;
    const plot = new uPlot(optionsOf(root, props), toStack(props), root);
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: root.clientWidth, height: HEIGHT }),
    );
    resized.observe(root);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [data, theme.value, props.dayLimit, props.perDay]);
  return (
    <figure>
      <div
        class="chart"
        ref={place}
        role="img"
        aria-label="Costs by day; the table below holds the numbers"
      />
      <figcaption class="legend">
        {data.series.map(({ value, name }, index) => (
          <span key={value}>
            <i class={`swatch series-${(index % 7) + 1}`} />
            {name}
          </span>
        ))}
        {data.unpriced.some((requests) => requests > 0) && (
          <span>
            <i class="swatch hatched" />
            unpriced requests
          </span>
        )}
        {props.perDay > 0 && (
          <span>
            <i class="swatch outlined" />
            expected
          </span>
        )}
      </figcaption>
    </figure>
  );
}

/** Series from the tallest down, so that each covers the foot of the one before. */
function toStack({ data: { days, series } }: CostChartProps): uPlot.AlignedData {
  const sums = days.map(() => 0);
  const stacked = series.map(({ costs }) =>
    costs.map((cost, at) => (sums[at] = (sums[at] ?? 0) + cost)),
  );
  return [days.map((day) => Date.parse(day) / 1_000), ...stacked.reverse()];
}

function optionsOf(root: HTMLElement, props: CostChartProps): uPlot.Options {
  const { data, dayLimit, perDay, onSelect } = props;
  const color = (name: string): string => resolved(root, name);
  const [grid, text] = [color('--line'), color('--text-2')];
  const axis = {
    stroke: text,
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.05 });
  const most = Math.max(
    ...data.days.map((_day, at) =>
      data.series.reduce((sum, { costs }) => sum + (costs[at] ?? 0), 0),
    ),
  );
  const top = Math.max(
    most,
    perDay,
    dayLimit !== undefined && dayLimit < most * 3 ? dayLimit : 0,
    0.000_1,
  );
  return {
    width: root.clientWidth,
    height: HEIGHT,
    tzDate: (at) => uPlot.tzDate(new Date(at * 1_000), 'UTC'),
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: true, range: spanOf(data.days) }, y: { range: [0, top * 1.12] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_plot, ticks) => ticks.map((at) => dayName(at)) },
      { ...axis, size: 72, values: (_plot, ticks) => ticks.map((value) => money(value)) },
    ],
    series: [
      {},
      ...data.series.map((_line, index) => ({
        paths: bars,
        points: { show: false },
        width: 0,
        fill: color(`--series-${((data.series.length - 1 - index) % 7) + 1}`),
      })),
    ],
    hooks: {
      draw: [(plot) => drawOver(plot, props, color)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < 4) return;
          const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
          const inside = data.days.filter((day) => {
            const at = Date.parse(day) / 1_000;
            return at >= from - 43_200 && at <= to + 43_200;
          });
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (inside.length > 0) onSelect(inside[0] as string, inside.at(-1) as string);
        },
      ],
    },
  };
}

function spanOf(days: readonly string[]): [number, number] {
  const half = 43_200;
  return [Date.parse(days[0] ?? '') / 1_000 - half, Date.parse(days.at(-1) ?? '') / 1_000 + half];
}

function dayName(at: number): string {
  return new Date(at * 1_000).toISOString().slice(5, 10);
}

/** Colour of a variable as a canvas takes it. */
function resolved(root: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  root.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function drawOver(plot: uPlot, props: CostChartProps, color: (name: string) => string): void {
  const { data, dayLimit, perDay, today } = props;
  const { ctx, bbox } = plot;
  const day = Math.abs(plot.valToPos(86_400, 'x', true) - plot.valToPos(0, 'x', true));
  const width = Math.min(day * 0.7, 40 * devicePixelRatio);
  ctx.save();
  data.days.forEach((name, at) => {
    const left = plot.valToPos(Date.parse(name) / 1_000, 'x', true) - width / 2;
    if (name >= today && perDay > 0)
      outline(
        ctx,
        { left, width, top: plot.valToPos(perDay, 'y', true), foot: bbox.top + bbox.height },
        color('--text-2'),
      );
    if ((data.unpriced[at] ?? 0) > 0) {
      const sum = data.series.reduce((all, { costs }) => all + (costs[at] ?? 0), 0);
      hatch(ctx, { left, width, foot: plot.valToPos(sum, 'y', true) }, color('--bad'));
    }
  });
  if (dayLimit !== undefined && dayLimit > 0) {
    const y = plot.valToPos(dayLimit, 'y', true);
    if (y >= bbox.top) {
      ctx.strokeStyle = ctx.fillStyle = color('--bad');
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.fillText(`limit of a day ${money(dayLimit)}`, bbox.left + 6, y - 5);
    }
  }
  ctx.restore();
}

interface Box {
  readonly left: number;
  readonly width: number;
  readonly foot: number;
}

function outline(ctx: CanvasRenderingContext2D, box: Box & { top: number }, color: string): void {
  ctx.strokeStyle = color;
  ctx.setLineDash([3, 3]);
  ctx.strokeRect(box.left, box.top, box.width, box.foot - box.top);
  ctx.setLineDash([]);
}

/** A band of fixed height above a bar: there was use of unknown cost. */
function hatch(ctx: CanvasRenderingContext2D, { left, width, foot }: Box, color: string): void {
  const height = 2 * HATCH * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, foot - height, width, height);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.beginPath();
  for (let at = left - height; at < left + width; at += HATCH * devicePixelRatio) {
    ctx.moveTo(at, foot);
    ctx.lineTo(at + height, foot - height);
  }
  ctx.stroke();
  ctx.restore();
}
