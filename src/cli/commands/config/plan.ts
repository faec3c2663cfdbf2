import { compare } from '../../grammar/compare.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plan'> = (input) => compare(input, { all: true, out: input.flags.out });
