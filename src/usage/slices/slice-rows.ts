import type { Entry } from '../../store/store.ts';

/** Row of a slice: the amount that is set aside, in nano-dollars, and the day whose windows it lies in. */
export type SliceRow = readonly [amount: number, day: string];

/** Rows are `slice, kind, id, worker`. */
export const workerOf = ({ key }: Entry): string => String(key[3]);
