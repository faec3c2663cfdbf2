import { compare } from '../../grammar/compare.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plan'> = (input) =>
  compare(input, { all: input.flags.all, out: input.flags.out });
