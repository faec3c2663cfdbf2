import type { AuditEntry } from './audit-entry.ts';
import { hashAfter, NO_PLACE } from './audit-rows.ts';
import type { ChainPlace, Places } from './audit-rows.ts';
import type { SealReader } from './seal-reader.ts';

export type AuditProblem = 'changed' | 'missing' | 'reordered' | 'inserted';

/** First thing that is wrong with the log. */
export interface AuditFault {
  readonly problem: AuditProblem;
  /** Id of the entry; null for one that is missing, and for a seal. */
  readonly entry: string | null;
  readonly chain: number | null;
  readonly number: number | null;
  readonly message: string;
}

interface ChainState extends ChainPlace {
  /** Id of its last entry; undefined at its beginning. */
  readonly id?: string;
}

export interface ChainsOptions {
  /** Positions after which the chains begin. */
  readonly from: Places;
  /** Last entries of the chains; later ones are being written. */
  readonly heads: Places;
  readonly seals: SealReader;
}

/** The chains of a log whose entries are read in the order of their ids. */
export class Chains {
  readonly #options: ChainsOptions;
  readonly #states = new Map<string, ChainState>();
  /** Sealed positions that no entry has reached yet, by chain. */
  readonly #sealed = new Map<string, ChainPlace[]>();
  /** Last number up to which the seals of a chain were read. */
  readonly #sealedTo = new Map<string, number>();
  /** Entries after the heads, by chain. */
  readonly #behind = new Map<string, AuditEntry>();
  /** Number of entries that were compared. */
  count = 0;

  constructor(options: ChainsOptions) {
    this.#options = options;
    for (const [chain, place] of Object.entries(options.from)) this.#states.set(chain, place);
  }

  /** Compares the next entry, which is at `id`. */
  async add(id: string, entry: AuditEntry): Promise<AuditFault | undefined> {
    const chain = String(entry.chain);
    const { number, hash: own } = entry;
    const head = this.#options.heads[chain] ?? NO_PLACE;
    if (entry.id !== id) {
      const message = `entry ${id} was replaced by entry ${entry.id}: the order was changed`;
      return { ...at(entry, 'reordered'), entry: id, message };
    }
    if (number > head.number) {
      this.#behind.set(chain, entry);
      return undefined;
    }
    const last: ChainState = this.#states.get(chain) ?? NO_PLACE;
    if (number > last.number + 1) return missing(chain, last, entry);
    if (!(number > last.number)) {
      const message = `entry ${id} was put in: chain ${chain} has its entry ${number} already`;
      return { ...at(entry, 'inserted'), message };
    }
    const { hash, ...rest } = entry;
    if (hashAfter(last.hash, rest) !== own) {
      const message = `entry ${id} was changed: it does not have the hash ${own} any more`;
      return { ...at(entry, 'changed'), message };
    }
    this.#states.set(chain, { number, hash, id });
    this.count++;
    return this.#compareSeal(chain, entry);
  }

  /** Compares the ends of the chains with their heads and with the seals that are left. */
  async end(): Promise<AuditFault | undefined> {
    const fault = await this.#readSeals(() => true);
    if (fault) return fault;
    const { heads } = this.#options;
    const ends = [
      ...Object.entries(heads),
      ...[...this.#sealed].flatMap(([chain, places]) => places.map((at) => [chain, at] as const)),
    ];
    for (const [chain, { number }] of ends) {
      const last: ChainState = this.#states.get(chain) ?? NO_PLACE;
      if (last.number < number) return missing(chain, last, undefined);
    }
    for (const [chain, { hash, number }] of Object.entries(heads)) {
      const last = this.#states.get(chain);
      if (!last || last.number !== number || last.hash === hash) continue;
      const entry = last.id ?? null;
      const message = `entry ${entry ?? number} was changed: it is not the last one of chain ${chain} any more`;
      return { problem: 'changed', entry, chain: Number(chain), number, message };
    }
    return undefined;
  }

  /** Judges the entries after the heads by the heads as they are now. */
  tooLong(heads: Places): AuditFault | undefined {
    for (const [chain, entry] of this.#behind) {
      if (entry.number <= (heads[chain] ?? NO_PLACE).number) continue;
      const message = `entry ${entry.id} was put in: chain ${chain} ends before it`;
      return { ...at(entry, 'inserted'), message };
    }
    return undefined;
  }

  async #compareSeal(chain: string, entry: AuditEntry): Promise<AuditFault | undefined> {
    const { number, hash, id } = entry;
    const fault = await this.#readSeals(() => (this.#sealedTo.get(chain) ?? 0) < number);
    if (fault) return fault;
    const [next] = this.#sealed.get(chain) ?? [];
    if (next?.number !== number) return undefined;
    this.#sealed.get(chain)?.shift();
    if (next.hash === hash) return undefined;
    const message = `entry ${id} was changed: its seal has another hash`;
    return { ...at(entry, 'changed'), message };
  }

  /** Reads seals as long as it is wanted and there are any. */
  async #readSeals(isWanted: () => boolean): Promise<AuditFault | undefined> {
    while (isWanted()) {
      const read = await this.#options.seals.next();
      if (!read) return undefined;
      if ('fault' in read) return { ...read.fault, entry: null, chain: null, number: null };
      for (const [chain, place] of Object.entries(read.heads)) this.#expect(chain, place);
    }
    return undefined;
  }

  #expect(chain: string, place: ChainPlace): void {
    this.#sealedTo.set(chain, place.number);
    // Retention is on its way to this seal.
    if (place.number <= (this.#options.from[chain] ?? NO_PLACE).number) return;
    const waiting = this.#sealed.get(chain) ?? [];
    waiting.push(place);
    this.#sealed.set(chain, waiting);
  }
}

function at({ id, chain, number }: AuditEntry, problem: AuditProblem) {
  return { problem, entry: id, chain, number };
}

function missing(chain: string, last: ChainState, next: AuditEntry | undefined): AuditFault {
  const number = last.number + 1;
  const [from, to] = [last.id && `after ${last.id}`, next && `before ${next.id}`];
  const place = [from, to].filter((one) => one !== undefined).join(' and ');
  const message = `entry ${number} of chain ${chain} is missing${place === '' ? '' : `, ${place}`}`;
  return { problem: 'missing', entry: null, chain: Number(chain), number, message };
}
