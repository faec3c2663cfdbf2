import type { Op, Store } from '../../store/store.ts';
import { FLIGHT, flightKey } from './ledger-keys.ts';
import type { Flight, LedgerCall } from './ledger-call.ts';
import { readRows } from './read-rows.ts';
import type { StartRow } from '../requests/request-row.ts';

/** Placeholder for a start stored by another worker. */
export const ELSEWHERE: Flight = { key: ['flight'], open: Infinity };

/** A call as its flight keeps it, with the estimate of an answer without output (absent in old rows). */
export type FlightMember = readonly [id: string, start: StartRow, input?: number, cost?: number];

/** The row of a flight: `flight, worker, number`. Calls that have ended since have a final record too. */
export type FlightRow = readonly FlightMember[];

/** Changes of one commit to flights; nothing counts until `keep`. */
export interface FlightDraft {
  begin(call: LedgerCall): void;
  end(call: LedgerCall): void;
  /** A put for what begins, and a deletion per flight that is over. */
  ops(): Op[];
  keep(): void;
}

export interface FlightsOptions {
  readonly worker: string;
  readonly takeovers: number;
  /** Gives the number of the next flight. */
  nextFlight(): number;
}

/** A flight's number is never used twice by one worker, not even for a commit that failed. */
export function createFlightDraft({ worker, takeovers, nextFlight }: FlightsOptions): FlightDraft {
  const begun: LedgerCall[] = [];
  const ended = new Map<Flight, number>();
  const key = flightKey(worker, nextFlight());

  return {
    begin: (call) => void begun.push(call),
    end({ flight }) {
      if (flight) ended.set(flight, (ended.get(flight) ?? 0) + 1);
    },
    ops() {
      const ops: Op[] = [];
      const value: FlightRow = begun.map(toMember);
      if (value.length > 0) ops.push({ type: 'put', key, value });
      for (const [flight, count] of ended) {
        if (flight.open === count) ops.push({ type: 'delete', key: flight.key });
      }
      return ops;
    },
    keep() {
      const flight: Flight = { key, open: begun.length };
      for (const call of begun) {
        call.flight = flight;
        call.takeovers = takeovers;
      }
      for (const [over, count] of ended) over.open -= count;
    },
  };
}

function toMember({ start, startRow }: LedgerCall): FlightMember {
  const { id, estimate } = start;
  return estimate ? [id, startRow, estimate.input, estimate.cost] : [id, startRow];
}

/**
 * The starts of all calls in flight, of every worker. To be read before final records: a call that
 * ends meanwhile is then seen twice instead of never. Rejects with `StoreError`.
 */
export async function listStarts(store: Pick<Store, 'list'>): Promise<Map<string, StartRow>> {
  const starts = new Map<string, StartRow>();
  for await (const { value } of readRows<FlightRow>(store, FLIGHT)) {
    for (const [id, start] of value) starts.set(id, start);
  }
  return starts;
}
