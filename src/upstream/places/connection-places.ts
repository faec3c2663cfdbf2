import type { Clock } from '../../core/time/clock.ts';
import { FairQueue } from '../../core/fair-queue.ts';
import type { Log } from '../../core/log.ts';
import type { Transport } from '../transport.ts';
import { PlacedCall, sendNext } from './placed-call.ts';

/** Calls that may wait for one destination; more fail at once. */
const MAX_WAITING = 4096;
/** Destinations that are remembered; beyond, unused ones are dropped. */
const MAX_GATES = 1000;
/** One line in so many milliseconds reports that calls wait for the same destination. */
const LOG_MS = 60_000;

/** A provider or an API, whose connections are counted together whatever their address. */
export interface Destination {
  readonly id: string;
  readonly name: string;
  /** Calls at once from this process, each on a connection of its own; default: that of the slots. */
  readonly connections?: number | undefined;
}

export interface ConnectionPlacesOptions {
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Connections of a destination that sets none. */
  connections: number;
  /** Calls that may wait for one destination; more fail at once. Default 4,096. */
  maxWaiting?: number;
}

export interface PlacesInUse {
  readonly used: number;
  readonly waiting: number;
}

interface Gate {
  readonly queue: FairQueue<PlacedCall>;
  /** Instant of the last warning, on the monotonic clock. */
  toldAt: number;
}

/**
 * The bound on connections to each destination from this process, shared fairly between those who call (see
 * {@link FairQueue}). A call has a slot from its sending to its end, and a transport never opens more
 * connections than it has calls at once; so two destinations of the same address have a bound each and may
 * still use each other's kept connections.
 */
export class ConnectionPlaces {
  readonly #options: ConnectionPlacesOptions;
  readonly #gates = new Map<string, Gate>();

  constructor(options: ConnectionPlacesOptions) {
    this.#options = options;
  }

  /** The transport as one caller may use it for one destination; `close` is left to its owner. */
  share(transport: Transport, to: Destination, holder: string): Transport {
    return {
      send: (request, sink) => {
        const gate = this.#gateOf(to);
        const call = new PlacedCall({ transport, request, sink, queue: gate.queue, holder });
        if (call.isWaiting) this.#tell(to, gate);
        return call;
      },
      close: () => Promise.resolve(),
    };
  }

  look({ id }: Pick<Destination, 'id'>): PlacesInUse {
    const queue = this.#gates.get(id)?.queue;
    return { used: queue?.used ?? 0, waiting: queue?.waiting ?? 0 };
  }

  #gateOf({ id, connections = this.#options.connections }: Destination): Gate {
    const known = this.#gates.get(id);
    if (!known) return this.#open(id, connections);
    if (known.queue.places !== connections) {
      known.queue.places = connections;
      sendNext(known.queue);
    }
    return known;
  }

  #open(id: string, places: number): Gate {
    const { maxWaiting = MAX_WAITING } = this.#options;
    if (this.#gates.size >= MAX_GATES) this.#forgetUnused();
    const gate = { queue: new FairQueue<PlacedCall>({ places, maxWaiting }), toldAt: -Infinity };
    this.#gates.set(id, gate);
    return gate;
  }

  #forgetUnused(): void {
    for (const [id, { queue }] of this.#gates)
      if (queue.used === 0 && queue.waiting === 0) this.#gates.delete(id);
  }

  #tell({ name }: Destination, gate: Gate): void {
    const now = this.#options.clock.monotonic();
    if (now < gate.toldAt + LOG_MS) return;
    gate.toldAt = now;
    const { used, places, waiting } = gate.queue;
    this.#options.log.warn('calls wait for a connection', {
      provider: name,
      connections: places,
      used,
      waiting,
    });
  }
}
