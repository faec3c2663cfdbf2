// Two processes on one port beside one. Where the provider and the load generator share the machine
// with them, two processors are not enough to see them twice as fast: the CPU per request tells.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadChat, PLAIN, SLOW, startForwarder, STREAM } from '../forwarder.js';
import { startServer } from '../processes.js';
import { alternate, medianRatio, printSides } from '../sides.js';
import { judgeWorkers } from './goal.js';

/** A connection is handed over once and then kept: in a shorter measurement that would count most. */
const LEAST_MS = 10_000;
const CPU = 'CPU us/request';
const SLOW_TITLE = 'non-stream, 1 KB, the provider takes 200 ms';
const SCENARIOS = [
  { title: 'non-stream, 1 KB', body: PLAIN, connections: 64 },
  { title: SLOW_TITLE, body: SLOW, connections: 1600 },
  { title: 'stream of 100 chunks', body: STREAM, connections: 64 },
];

/**
 * @param {{ root: string, directory: string, ms: number, rounds: number }} options
 */
export async function measureWorkers({ root, directory, ms, rounds }) {
  const upstream = await startServer([fileURLToPath(new URL('../upstream.js', import.meta.url))]);
  const sides = [];
  for (const workers of [1, 2]) {
    const args = ['--workers', String(workers)];
    const place = join(directory, `workers-${workers}`);
    const gateway = await startForwarder({ root, directory: place, upstream, args });
    sides.push({ name: workers === 1 ? 'one worker' : `${workers} workers`, ...gateway });
  }
  for (const { title, body, connections } of SCENARIOS) {
    const figures = await alternate(sides, {
      rounds,
      async measure(side) {
        const load = { body, connections, ms: Math.max(ms, LEAST_MS) };
        const { rate, cpu } = await loadChat(side, load);
        return { 'requests/s': rate, [CPU]: cpu };
      },
    });
    printSides(`${title}, ${availableParallelism()} processors`, figures);
    const [one, two] = figures.values();
    if (title === SLOW_TITLE) console.log(judgeWorkers(medianRatio(two, one, CPU)));
  }
  for (const { stop } of [...sides, upstream]) await stop();
}
