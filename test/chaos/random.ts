/** Numbers that a seed decides, so that a run can be made again. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number in [from, to). */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from));
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length)]!,
    shuffled(list) {
      const left = [...list];
      return list.map(() => left.splice(between(0, left.length), 1)[0]!);
    },
  };
}
