import { createInterface } from 'node:readline';
import { systemClock } from '../../core/time/clock.ts';
import { parseJsonObject } from '../../core/json/value.ts';
import { endGroups } from './end-groups.ts';
import type { MarkedGroup } from './marked-group.ts';

/**
 * The child process that outlives its gateway: it reads its groups from stdin, one JSON object per
 * line (`{"watch": {marker, pid?}}`, `{"forget": marker}`). When the pipe closes, by whatever
 * death, it kills the remaining members and ends.
 */

/**
 * Number of searches: a process that was just forking when the gateway died shows its marker a
 * moment later.
 */
const LOOKS = 4;
const LOOK_MS = 250;

const groups = new Map<string, MarkedGroup>();

// A signal to everything around the gateway is none to what cleans up after it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const { watch, forget } = parseJsonObject(line) ?? {};
  if (watch) {
    const group = watch as MarkedGroup;
    groups.set(group.marker, group);
    process.stdout.write('.');
  }
  if (typeof forget === 'string') groups.delete(forget);
}

for (let look = 0; groups.size > 0 && look < LOOKS; look++) {
  await endGroups([...groups.values()], { clock: systemClock, graceMs: 0 });
  await new Promise((resolve) => {
    setTimeout(resolve, LOOK_MS);
  });
}
