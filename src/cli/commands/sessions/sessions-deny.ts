import type { RunOf } from '../../commands.ts';
import { decide } from './sessions-allow.ts';

export const run: RunOf<'sessions deny'> = (input) =>
  decide(input, { result: 'deny', reason: input.flags.reason });
