import type { ComponentChildren } from 'preact';
import type { RequestRow } from '../../api/views.ts';
import { State } from '../../parts/parts.tsx';
import type { Tone } from '../../parts/parts.tsx';
import { NONE, clockTime, count, dateTime, duration, money } from '../../logic/format.ts';
import { refuserOf } from '../../logic/limit-tone.ts';
import type { Column } from '../../logic/requests-view.ts';

interface ColumnView {
  readonly title: string;
  /** Track of the grid. */
  readonly width: string;
  readonly isNumber?: boolean;
  show(row: RequestRow): ComponentChildren;
}

export const COLUMNS: Readonly<Record<Column, ColumnView>> = {
  time: {
    title: 'Time',
    width: '72px',
    show: ({ created_at: at }) => {
      const ms = Date.parse(at);
      return (
        <time dateTime={at} title={dateTime(ms)}>
          {clockTime(ms)}
        </time>
      );
    },
  },
  key: { title: 'Key', width: 'minmax(64px, 0.7fr)', show: ({ key }) => key.name },
  model: {
    title: 'Model',
    width: 'minmax(120px, 1.5fr)',
    show: ({ alias, model }) => alias ?? model,
  },
  surface: { title: 'Surface', width: 'minmax(56px, 0.6fr)', show: ({ surface }) => surface },
  provider: {
    title: 'Provider',
    width: 'minmax(64px, 0.7fr)',
    show: ({ answered_by: by }) => by?.provider ?? NONE,
  },
  status: { title: 'Status', width: 'minmax(92px, 0.9fr)', show: (row) => <Status row={row} /> },
  attempts: {
    title: 'Attempts',
    width: '72px',
    isNumber: true,
    show: ({ attempts }) => attempts?.length ?? NONE,
  },
  first: {
    title: 'First content',
    width: '92px',
    isNumber: true,
    show: ({ first_content_ms: ms }) => duration(ms),
  },
  duration: {
    title: 'Duration',
    width: '84px',
    isNumber: true,
    show: ({ total_ms: ms }) => duration(ms),
  },
  tokens: {
    title: 'Tokens',
    width: '76px',
    isNumber: true,
    show: ({ usage }) => count(tokensOf(usage)),
  },
  cost: {
    title: 'Cost',
    width: '84px',
    isNumber: true,
    show: ({ cost, result }) =>
      result === 'pending' ? NONE : cost === null ? <span class="bad">unpriced</span> : money(cost),
  },
  id: { title: 'Request', width: 'minmax(120px, 1.2fr)', show: ({ id }) => <code>{id}</code> },
};

export function tokensOf(usage: RequestRow['usage']): number {
  const { input_tokens: input, cache_read_tokens: read, output_tokens: output } = usage;
  return input + read + usage.cache_write_5m_tokens + usage.cache_write_1h_tokens + output;
}

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', error: 'bad', pending: 'busy' };

/** HTTP status with the limit that refused it, else the word of the error or of the result. */
export function Status({ row }: { row: RequestRow }) {
  const { result, status, error_code: code, refused_by: refused } = row;
  const tone = TONES[result] ?? 'warn';
  const cause = refused ? refuserOf(refused) : (code ?? result);
  const words =
    result === 'ok' ? String(status) : [status, cause].filter((one) => one !== null).join(' ');
  return (
    <State tone={tone}>
      <span class="cut" title={refused?.text ?? words}>
        {words}
      </span>
    </State>
  );
}
