import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { count } from '../../logic/format.ts';
import { FILTER_FIELDS, toggleTerm } from '../../logic/request-filter.ts';
import { ALL_COLUMNS, SPANS, toggleColumn } from '../../logic/requests-view.ts';
import type { RequestsView } from '../../logic/requests-view.ts';
import { Menu } from '../../parts/menu.tsx';
import { COLUMNS } from './columns.tsx';
import type { RequestFeed } from './request-feed.ts';

const TYPING_MS = 250;

interface BarProps {
  readonly view: RequestsView;
  readonly change: (part: Partial<RequestsView>) => void;
  readonly requests: RequestFeed;
}

/** Filter, time, grouping and columns, and the number of rows that wait. */
export function RequestsBar({ view, change, requests }: BarProps) {
  const waiting = requests.waiting.value;
  const isFailing = view.filter.includes('result:error');
  return (
    <div class="head">
      <h1>Requests</h1>
      <FilterInput text={view.filter} onChange={(filter) => change({ filter })} />
      <select
        class="input"
        aria-label="Time"
        value={view.last}
        onChange={({ currentTarget }) => change({ last: currentTarget.value })}
      >
        {SPANS.map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="button"
        aria-pressed={isFailing}
        onClick={() => change({ filter: toggleTerm(view.filter, 'result', 'error') })}
      >
        Failed
      </button>
      <button
        type="button"
        class="button"
        aria-pressed={view.group !== ''}
        onClick={() => change({ group: view.group ? '' : 'conversation' })}
      >
        By conversation
      </button>
      <Menu label="Columns">
        {ALL_COLUMNS.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={view.columns.includes(name)}
              onChange={() => change({ columns: toggleColumn(view.columns, name) })}
            />
            {COLUMNS[name].title}
          </label>
        ))}
      </Menu>
      <span class="waiting" role="status">
        {waiting > 0 && (
          <button
            type="button"
            class="button main"
            onClick={() => {
              requests.catchUp();
              document.querySelector('.grid')?.scrollTo({ top: 0 });
            }}
          >
            {count(waiting)} new
          </button>
        )}
      </span>
    </div>
  );
}

/** The filter line; typed text counts after a short rest. */
function FilterInput({ text, onChange }: { text: string; onChange(text: string): void }) {
  const typed = useSignal(text);
  const sent = useRef(text);
  useEffect(() => {
    if (text !== sent.current) typed.value = text;
  }, [text]);
  useEffect(() => {
    if (typed.value === text) return undefined;
    const timer = setTimeout(() => {
      sent.current = typed.value;
      onChange(typed.value);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed.value]);
  return (
    <input
      class="input grow filter"
      type="search"
      data-filter
      aria-label="Filter"
      spellcheck={false}
      autocomplete="off"
      placeholder="model:gpt-5* status:>=400 key:web"
      title={`Fields: ${FILTER_FIELDS.join(', ')}. * stands for anything, - excludes, >= compares.`}
      value={typed.value}
      onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
