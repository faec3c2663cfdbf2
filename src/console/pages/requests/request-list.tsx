import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { RequestRow } from '../../api/views.ts';
import type { Column } from '../../logic/requests-view.ts';
import { ROW, useVirtual } from '../../parts/virtual.ts';
import { COLUMNS } from './columns.tsx';

export interface RequestListProps {
  readonly rows: readonly RequestRow[];
  readonly columns: readonly string[];
  /** Id of the open row. */
  readonly open: string;
  /** Id of the row that the keys are at. */
  readonly at: string;
  readonly onOpen: (id: string) => void;
  /** Callback with whether the list is at its newest row. */
  readonly onTop: (isTop: boolean) => void;
  readonly onEnd: () => void;
}

/** The rows that are in sight of a list of any length. */
export function RequestList(props: RequestListProps) {
  const { rows, columns, open, at, onOpen, onTop, onEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { items, height, scrollTo } = useVirtual(scroller, rows.length);
  const template = columns.map((name) => COLUMNS[name as Column].width).join(' ');
  const atIndex = at === '' ? -1 : rows.findIndex(({ id }) => id === at);
  useEffect(() => {
    if (atIndex >= 0) scrollTo(atIndex);
  }, [at]);
  useEnd(scroller, rows.length, onEnd);
  return (
    <div
      class="grid"
      role="grid"
      aria-label="Requests"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={atIndex >= 0 ? `row-${at}` : undefined}
      tabIndex={0}
      ref={scroller}
      onScroll={({ currentTarget }) => {
        onTop(currentTarget.scrollTop < ROW);
        if (currentTarget.scrollTop + currentTarget.clientHeight * 2 > currentTarget.scrollHeight)
          onEnd();
      }}
    >
      <div class="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map((name) => (
          <span
            key={name}
            role="columnheader"
            class={COLUMNS[name as Column].isNumber ? 'right' : ''}
          >
            {COLUMNS[name as Column].title}
          </span>
        ))}
      </div>
      <div role="rowgroup" class="grid-body" style={{ height: `${height}px` }}>
        {items.map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              key={row.id}
              id={`row-${row.id}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={row.id === open}
              class={`grid-row${row.id === at ? ' at' : ''}`}
              style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
              onClick={() => onOpen(row.id)}
            >
              {columns.map((name) => (
                <span
                  key={name}
                  role="gridcell"
                  class={COLUMNS[name as Column].isNumber ? 'right' : 'cut'}
                >
                  {COLUMNS[name as Column].show(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Loads further rows while they do not fill the list. */
function useEnd(scroller: RefObject<HTMLElement | null>, count: number, onEnd: () => void): void {
  useEffect(() => {
    const place = scroller.current;
    if (place && count > 0 && count * ROW < place.clientHeight) onEnd();
  }, [count]);
}
