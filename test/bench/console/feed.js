// Ten open Requests pages, which are ten streams, beside 1,000 requests a second sent by the clock.
import { get } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLAIN, startForwarder } from '../forwarder.js';
import { percentile } from '../load.js';
import { startOpenLoop } from '../open-loop.js';
import { cpuMicros, startServer } from '../processes.js';
import { alternate, printSides } from '../sides.js';
import { judgePages } from './goals.js';

const PER_SECOND = 1_000;
const PAGES = 10;
const STREAM = '/admin/v1/requests/events?limit=200';

export async function measureFeed({ root, directory, ms, rounds }) {
  const upstream = await startServer([fileURLToPath(new URL('../upstream.js', import.meta.url))]);
  const place = join(directory, 'console-feed');
  const gateway = await startForwarder({ root, directory: place, upstream });
  const sides = [
    { name: 'no page', pages: 0 },
    { name: `${PAGES} pages`, pages: PAGES },
  ];
  const figures = await alternate(sides, {
    rounds,
    measure: (side) => measureOpen(gateway, side.pages, ms),
  });
  printSides(`${PER_SECOND} requests/s beside open Requests pages`, figures);
  const [none, open] = [...figures.values()].map((list) => list.map((one) => one[CPU]));
  const added = percentile(
    none.map((value, index) => open[index] - value),
    0.5,
  );
  console.log(judgePages(PAGES, added));
  for (const { stop } of [gateway, upstream]) await stop();
}

const CPU = 'CPU, % of one core';

async function measureOpen({ url, key, pid }, pages, ms) {
  const streams = await Promise.all(Array.from({ length: pages }, () => follow(url, key)));
  const path = '/v1/chat/completions';
  const load = startOpenLoop({ url, key, path, body: PLAIN, perSecond: PER_SECOND });
  const [before, began] = [cpuMicros(pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, ms));
  const cpu = (cpuMicros(pid) - before) / 10 / (performance.now() - began);
  const { failures, latencies } = await load.stop();
  for (const stream of streams) stream.destroy();
  if (streams.some(({ bytes }) => bytes() === 0)) throw new Error('a stream told nothing');
  return {
    [CPU]: cpu,
    'failed requests': failures,
    'p50 ms': percentile(latencies, 0.5),
    'p99 ms': percentile(latencies, 0.99),
  };
}

/** A stream that is read, and how much it told. */
function follow(url, key) {
  return new Promise((resolve, reject) => {
    let told = 0;
    const request = get(url + STREAM, { headers: { authorization: `Bearer ${key}` } });
    request.on('response', (answer) => {
      answer.on('data', (bytes) => (told += bytes.length)).on('error', () => undefined);
      resolve({ bytes: () => told, destroy: () => request.destroy() });
    });
    request.on('error', (error) => (told > 0 ? undefined : reject(error)));
  });
}
