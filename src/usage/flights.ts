import type { Key, Op, Store } from '../store/store.ts';
import { FLIGHT, flightKey } from './ledger-keys.ts';
import type { LedgerCall } from './ledger-call.ts';
import { readRows } from './read-rows.ts';
import type { StartRow } from './request-row.ts';

/** Calls that began in one commit: their starts share a row until the last of them has ended. */
export interface Flight {
  readonly key: Key;
  /** Calls whose final record is not durable. */
  open: number;
}

/** The row of a flight: `flight, worker, number`. Calls that have ended since have a final record too. */
export type FlightRow = readonly (readonly [id: string, start: StartRow])[];

/** What one commit does to flights; nothing counts until `keep`. */
export interface FlightDraft {
  begin(call: LedgerCall): void;
  end(call: LedgerCall): void;
  /** A put for what begins, and a deletion per flight that is over. */
  ops(): Op[];
  keep(): void;
}

/** `number` is never used twice by one worker, not even for a commit that failed. */
export function createFlightDraft(worker: string, number: () => number): FlightDraft {
  const begun: LedgerCall[] = [];
  const ended = new Map<Flight, number>();
  const key = flightKey(worker, number());

  return {
    begin: (call) => void begun.push(call),
    end({ flight }) {
      if (flight) ended.set(flight, (ended.get(flight) ?? 0) + 1);
    },
    ops() {
      const ops: Op[] = [];
      const value: FlightRow = begun.map(({ start, startRow }) => [start.id, startRow]);
      if (value.length > 0) ops.push({ type: 'put', key, value });
      for (const [flight, count] of ended) {
        if (flight.open === count) ops.push({ type: 'delete', key: flight.key });
      }
      return ops;
    },
    keep() {
      const flight: Flight = { key, open: begun.length };
      for (const call of begun) call.flight = flight;
      for (const [over, count] of ended) over.open -= count;
    },
  };
}

/**
 * The starts of all calls in flight, of every worker. To be read before final records: a call that
 * ends meanwhile is then seen twice instead of never. Rejects with `StoreError`.
 */
export async function listStarts(store: Store): Promise<Map<string, StartRow>> {
  const starts = new Map<string, StartRow>();
  for await (const { value } of readRows<FlightRow>(store, FLIGHT)) {
    for (const [id, start] of value) starts.set(id, start);
  }
  return starts;
}
