import { compare } from '../../grammar/compare.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'diff'> = (input) => compare(input, { all: false });
