import { compare } from '../../grammar/compare.ts';
import { MORE } from '../../output/render-plan.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plan'> = (input) =>
  compare(input, { all: input.flags.all, more: MORE, out: input.flags.out });
