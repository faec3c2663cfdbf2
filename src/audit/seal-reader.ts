import type { Store } from '../store/store.ts';
import { hashAfter, sealKey, SEALS } from './audit-rows.ts';
import type { Cut, Places, Seal, SealPlace } from './audit-rows.ts';

const PAGE = 500;

export interface SealReaderOptions {
  readonly store: Pick<Store, 'list'>;
  /** Seal after which reading begins. */
  readonly from: Cut['seal'];
  /** Number of the last seal. */
  readonly last: number;
}

/** First thing that is wrong with the seals. */
export interface SealFault {
  readonly problem: 'changed' | 'missing';
  readonly message: string;
}

/** One seal: its positions, or its fault. */
export type SealRead = { readonly heads: Places } | { readonly fault: SealFault };

/** Reads seals one after the other and compares each with the one before it. */
export class SealReader {
  readonly #options: SealReaderOptions;
  #place: SealPlace;
  #page: Seal[] = [];
  #isOver = false;
  /** Instant of the last seal that was read, in milliseconds since epoch. */
  at: number | null = null;
  /** Number of seals that were read. */
  count = 0;

  constructor(options: SealReaderOptions) {
    this.#options = options;
    this.#place = options.from;
  }

  /** Undefined after the last one. */
  async next(): Promise<SealRead | undefined> {
    if (this.#page.length === 0 && !this.#isOver) await this.#read();
    const { last } = this.#options;
    const { number: before, hash: previous } = this.#place;
    if (before >= last) return undefined;
    const found = this.#page.shift();
    const number = before + 1;
    if (!found || found.number > number)
      return { fault: { problem: 'missing', message: `seal ${number} is missing` } };
    const { hash, ...seal } = found;
    if (found.number < number || hashAfter(previous, seal) !== hash)
      return { fault: { problem: 'changed', message: `seal ${number} was changed` } };
    this.#place = { number, hash };
    this.at = found.at;
    this.count++;
    return { heads: found.heads };
  }

  async #read(): Promise<void> {
    const { store } = this.#options;
    const after = sealKey(this.#place.number);
    const page = await store.list<Seal>({ prefix: SEALS, after, limit: PAGE });
    this.#page = page.map(({ value }) => value);
    this.#isOver = page.length < PAGE;
  }
}
