import { randomUUID } from 'node:crypto';
import type { StoreMeta } from '../../store-meta.ts';
import type { Table } from '../../table.ts';

/** State that a step changes: everything that a snapshot holds. */
export interface JournalState {
  readonly table: Table;
  meta: StoreMeta;
}

/** The step at index n brings a store of format n to n + 1; a new store takes all of them. */
const STEPS: readonly ((state: JournalState) => void)[] = [
  () => undefined,
  (state) => void (state.meta = { ...state.meta, identity: randomUUID() }),
];

/** Format that this code writes; a store of a higher number stays unchanged. */
export const FORMAT = STEPS.length;

/** Takes the steps from `format` on; their result counts once it is in a snapshot. */
export function takeSteps(format: number, state: JournalState): void {
  for (const step of STEPS.slice(format)) step(state);
}
