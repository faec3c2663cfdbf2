import type { CommandRun } from '../../command.ts';
import { compare } from '../../grammar/compare.ts';

export const run: CommandRun = (input) => compare(input, { all: false });
