// Loaded before everything else by each gateway of a chaos run (`node --import`): time goes on `CHAOS_RATE`
// times as fast as on the machine, for clocks and timers alike, so that leases of half a minute run out
// while somebody watches. What the system itself measures (sockets, databases) keeps its own time.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { promisify } from 'node:util';

const rate = Number(process.env.CHAOS_RATE ?? 1);
const origin = Number(process.env.CHAOS_ORIGIN ?? 0);
const shift = Number(process.env.CHAOS_SHIFT ?? 0);

const RealDate = Date;
const realNow = RealDate.now;
const now = () => origin + shift + (realNow() - origin) * rate;
RealDate.now = now;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
});

const monotonic = performance.now.bind(performance);
performance.now = () => monotonic() * rate;

const faster = (start) => {
  const quick = (fn, ms = 0, ...args) => start(fn, ms / rate, ...args);
  const waited = start[promisify.custom];
  if (waited) quick[promisify.custom] = (ms = 0, ...args) => waited(ms / rate, ...args);
  return quick;
};
globalThis.setTimeout = timers.setTimeout = faster(timers.setTimeout);
globalThis.setInterval = timers.setInterval = faster(timers.setInterval);
const wait = timersPromises.setTimeout;
timersPromises.setTimeout = (ms = 0, ...args) => wait(ms / rate, ...args);
syncBuiltinESMExports();
