import type { Op, Version } from '../../store/store.ts';
import { sliceKey } from '../ledger/ledger-keys.ts';
import type { SliceRow } from './slice-rows.ts';
import type { Slice } from './slices.ts';

/** Part of the rest of a limit that one worker may set aside. */
const PART = 1 / 16;
/** Calls that a slice is for, and the least for which one is worth it. */
const CALLS = { most: 256, least: 4 };

/** Amount of a slice and the part of it that is in use. */
interface Filling {
  readonly amount: number;
  readonly used: number;
}

/** Room that a slice is to have for calls of this bound, by what neither is spent nor reserved; 0: none. */
export function roomFor(bound: number, left: number): number {
  const room = Math.floor(Math.min(left * PART, CALLS.most * bound));
  return room < CALLS.least * bound ? 0 : room;
}

/** Amount of a slice that is to have so much room. Half of it is enough: not every commit has to change it. */
export function fitted({ amount, used }: Filling, room: number): number {
  const has = amount - used;
  return has > room || has < room / 2 ? used + room : amount;
}

/** Operations that store a slice with this amount. */
export function opsOf(slice: Slice, amount: number, worker: string): Op[] {
  const { scope, version, windows } = slice;
  if (amount === slice.amount) return [];
  const key = sliceKey(scope, worker);
  if (amount === 0)
    return version === undefined ? [] : [{ type: 'delete', key, ifVersion: version }];
  const condition = version === undefined ? { ifAbsent: true as const } : { ifVersion: version };
  const value: SliceRow = [amount, windows.day];
  return [{ type: 'put', key, value, ...condition }];
}

/** Enters what {@link opsOf} has stored. */
export function noteStored(slice: Slice, amount: number, version: Version): void {
  if (amount !== slice.amount) slice.version = amount > 0 ? version : undefined;
  slice.amount = amount;
  slice.planned = undefined;
}
