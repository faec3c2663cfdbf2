// Loaded into a gateway with `--import`. At SIGUSR2 it collects the garbage and writes down, as JSON in
// the file that PROBE_FILE names, what the process still holds.
import { EventEmitter } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const idle = setTimeout(() => {}, 0);
/** Sockets, requests and answers; signals; timers. To look for a class takes a second. */
const ON_HEAP = { EventEmitter, EventTarget, Timeout: idle.constructor };

process.on('SIGUSR2', () => void report());

async function report() {
  // Some objects are let go of by the turn of the event loop after the object that held them.
  for (let round = 0; round < 2; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  const listeners = Object.fromEntries(
    process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  );
  const heap = Object.fromEntries(
    Object.entries(ON_HEAP).map(([name, type]) => [name, queryObjects(type, { format: 'count' })]),
  );
  const { heapUsed, external } = process.memoryUsage();
  const held = {
    active: countOf(process.getActiveResourcesInfo()),
    listeners,
    heap,
    held: heapUsed + external,
  };
  const file = process.env.PROBE_FILE;
  writeFileSync(`${file}.new`, JSON.stringify(held));
  renameSync(`${file}.new`, file);
}

function countOf(names) {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
