import {
  Virtualizer,
  elementScroll,
  observeElementOffset,
  observeElementRect,
} from '@tanstack/virtual-core';
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo } from 'preact/hooks';

export interface VirtualList {
  readonly items: readonly { readonly index: number; readonly start: number }[];
  readonly height: number;
  scrollTo(index: number): void;
}

/** Height of a row of every long list. */
export const ROW = 28;

/** The part of a long list that is in sight, and a little around it. */
export function useVirtual(scroller: RefObject<HTMLElement | null>, count: number): VirtualList {
  const changes = useSignal(0);
  const virtualizer = useMemo(
    () =>
      new Virtualizer<HTMLElement, HTMLElement>({
        count,
        getScrollElement: () => scroller.current,
        estimateSize: () => ROW,
        overscan: 8,
        scrollToFn: elementScroll,
        observeElementRect,
        observeElementOffset,
        onChange: () => changes.value++,
      }),
    [],
  );
  virtualizer.setOptions({ ...virtualizer.options, count });
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  void changes.value;
  return {
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}
