import { afterAll } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createSealer } from '../../../src/core/seal.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { createReaper } from '../../../src/runtime/reaper/create-reaper.ts';
import { quietLog as log } from '../harness/harness-options.ts';

/** What processes of servers need of the gateway around them; one for a file of tests. */
export function toolSurroundings(environment: Record<string, string | undefined> = process.env) {
  const clock = systemClock;
  const reaper = createReaper({ log });
  afterAll(() => reaper.close());
  const sealer = createSealer([Buffer.alloc(32, 7)]);
  return { clock, ids: createIdSource(clock), log, reaper, sealer, environment };
}
