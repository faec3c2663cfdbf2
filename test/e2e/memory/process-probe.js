// Loaded into a gateway with `--import`. At SIGUSR2 it collects the garbage and writes down, as JSON in
// the file that PROBE_FILE names, what the process still holds; at SIGWINCH it counts emitters as well.
import { EventEmitter } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapCodeStatistics, queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
// What is thrown away of code comes back with the next call, and is no memory of calls.
setFlagsFromString('--no-flush-bytecode');
const collectGarbage = runInNewContext('gc');
const idle = setTimeout(() => {}, 0);

/** Sockets, requests and answers; signals; timers: with one ancestor, since each look for a class walks the whole heap. */
function Counted() {}
for (const { prototype } of [EventEmitter, EventTarget, idle.constructor])
  Object.setPrototypeOf(prototype, Counted.prototype);

process.on('SIGUSR2', () => void report());
process.on('SIGWINCH', () => void report({ isCounting: true }));

async function report({ isCounting = false } = {}) {
  // Some objects are let go of by the turn of the event loop after the object that held them.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  await new Promise((resolve) => setImmediate(resolve));
  const emitters = isCounting ? queryObjects(Counted, { format: 'count' }) : undefined;
  // Collects what is garbage more thoroughly than `gc` does, so what is measured behind it is what is held.
  const objects = queryObjects(Object, { format: 'count' });
  const { heapUsed, external } = process.memoryUsage();
  const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } =
    getHeapCodeStatistics();
  const held = {
    active: countOf(process.getActiveResourcesInfo()),
    listeners: Object.fromEntries(
      process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
    ),
    emitters,
    objects,
    // The compiler goes on for as long as there are calls.
    held: heapUsed + external - code - bytecode,
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
