import type { RequestRow } from '../api/views.ts';

/** A stretch of time of a request, in milliseconds from its beginning. */
export interface Span {
  readonly name: string;
  readonly kind: 'waiting' | 'gateway' | 'failed' | 'answered' | 'open';
  readonly from: number;
  readonly to: number;
  /** Instant of the first content within it. */
  readonly content?: number;
  /** Note next to it: the cause of a failure and the reaction. */
  readonly note: string;
}

export interface Waterfall {
  readonly spans: readonly Span[];
  /** Milliseconds of the whole; at least 1. */
  readonly total: number;
}

/** Share of the whole below which a rest is rounding and nothing that waited. */
const ROUNDING = 0.02;

/** The stretches of a request in their order. A request under way lasts until now. */
export function toWaterfall(row: RequestRow, now: number): Waterfall {
  const attempts = row.attempts ?? [];
  const isOpen = row.result === 'pending';
  const own = (row.overhead_us ?? 0) / 1_000;
  const asked = attempts.reduce((sum, { ms }) => sum + ms, 0);
  const lasted = isOpen ? Math.max(0, now - Date.parse(row.created_at)) : (row.total_ms ?? 0);
  const total = Math.max(lasted, own + asked, row.first_content_ms ?? 0, 0.1);
  const spans: Span[] = [];
  let at = 0;
  const put = (span: Omit<Span, 'from' | 'to'>, ms: number): void => {
    spans.push({ ...span, from: at, to: at + ms });
    at += ms;
  };
  const rest = total - own - asked;
  const isAnswerOpen = attempts.at(-1)?.outcome === 'ok';
  if (!isOpen && !isAnswerOpen && rest > total * ROUNDING)
    put({ name: 'waiting', kind: 'waiting', note: '' }, rest);
  if (own > 0) put({ name: 'gateway', kind: 'gateway', note: '' }, own);
  attempts.forEach((attempt, index) => {
    const isLast = index === attempts.length - 1;
    const isAnswer = attempt.outcome === 'ok';
    const content = isAnswer && isLast ? (row.first_content_ms ?? undefined) : undefined;
    put(
      {
        name: attempt.provider,
        kind: isAnswer ? 'answered' : 'failed',
        note: noteOf(attempt),
        ...(content !== undefined && { content: Math.max(at, content) }),
      },
      isLast && isAnswer ? Math.max(attempt.ms, total - at) : attempt.ms,
    );
  });
  if (isOpen) put({ name: 'under way', kind: 'open', note: '' }, Math.max(0, total - at));
  return { spans, total };
}

function noteOf({
  outcome,
  status,
  cause,
  verdict,
}: NonNullable<RequestRow['attempts']>[number]): string {
  const why = outcome === 'ok' ? String(status ?? 'ok') : outcome.replace(/^status_/, '');
  return [why, cause, verdict === 'final' ? undefined : verdict].filter(Boolean).join(' · ');
}

/** Position of an instant on the axis, 0 to 1. The logarithmic one shows both 2 ms and 20 min. */
export function placeOf(ms: number, total: number, isLog: boolean): number {
  const share = isLog ? Math.log1p(ms) / Math.log1p(total) : ms / total;
  return Math.min(1, Math.max(0, share));
}

/** Instants that the axis names, from 0 on. */
export function ticksOf(total: number, isLog: boolean): number[] {
  if (isLog) {
    const ticks = [0];
    for (let at = 10; at <= total; at *= 10) ticks.push(at);
    return ticks.length > 7 ? ticks.filter((_tick, index) => index % 2 === 0) : ticks;
  }
  const rough = total / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let at = 0; at <= total * 1.000_1; at += step) ticks.push(Number(at.toPrecision(6)));
  return ticks;
}
