import { encodeKey, toKeyRange, type KeyRange } from './key-codec.ts';
import { StoreError, type ListOptions } from './store.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;

export interface ListPlan extends KeyRange {
  readonly limit: number;
  /** Most bytes of envelopes; infinity for no bound. */
  readonly maxBytes: number;
  readonly reverse: boolean;
}

/** The exclusive bounds of a list; `after` outside the prefix narrows nothing or everything. */
export function toListPlan(options: ListOptions): ListPlan {
  const { limit = DEFAULT_LIMIT, maxBytes = Infinity, reverse = false } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new StoreError('invalid_commit', `a list takes a limit of 1 to ${MAX_LIMIT}`);
  }
  let { lower, upper } = toKeyRange(options.prefix);
  if (options.after) {
    const after = encodeKey(options.after);
    if (reverse) upper = Buffer.compare(after, upper) < 0 ? after : upper;
    else lower = Buffer.compare(after, lower) > 0 ? after : lower;
  }
  return { lower, upper, limit, maxBytes, reverse };
}
