// Those who look: a thousand followers, long histories, and whether the place in a log matters.
import { fileURLToPath } from 'node:url';
import { percentile } from '../load.js';
import { cpuMicros, startServer } from '../processes.js';
import { fill, note } from './session-gateway.js';
import { counter, openTail } from './tail.js';

const FOLLOWERS = 1_000;
const EVENTS = 50;
const WARM_UP = 10;
const SHORT = 40;
const LONG = 100_000;
const HISTORY = 10_000;

/** A thousand streams of one Session beside the same from a bare server, and of a thousand Sessions. */
export async function measureTails(gateway) {
  const { newSession } = gateway;
  const id = await newSession();
  const before = gateway.memory();
  const one = await follow(gateway, Array(FOLLOWERS).fill(id), async (round) => {
    await gateway.call('POST', `/v1/sessions/${id}/events`, { events: [note(`word ${round}`)] });
    return FOLLOWERS;
  });
  const plain = await measurePlain();
  const ids = await Promise.all(Array.from({ length: FOLLOWERS }, newSession));
  const many = await follow(gateway, ids, async (round) => {
    const events = [note(`word ${round}`)];
    const some = ids.slice(0, 100);
    await Promise.all(
      some.map((id) => gateway.call('POST', `/v1/sessions/${id}/events`, { events })),
    );
    return some.length;
  });
  return {
    'event at all 1,000 followers p50 ms': one.ms,
    'CPU us/event and follower': one.cpu,
    'x a bare Node server': one.cpu / plain.cpu,
    'CPU us/event, 1 follower of each': many.cpu,
    'memory MiB before': before,
    'memory MiB with 1,000 streams': one.memory,
  };
}

async function measurePlain() {
  const server = await startServer([fileURLToPath(new URL('../plain-fanout.js', import.meta.url))]);
  const plain = {
    ...server,
    cpu: () => cpuMicros(server.pid),
    memory: () => 0,
  };
  const figures = await follow(plain, Array(FOLLOWERS).fill('-'), async (round) => {
    const body = JSON.stringify({ events: [note(`word ${round}`)] });
    await (await fetch(server.url, { method: 'POST', body })).text();
    return FOLLOWERS;
  });
  await server.stop();
  return figures;
}

/** Opens a stream per id; `append` says how many events are to arrive for what it did. */
async function follow({ url, key, cpu, memory }, ids, append) {
  const { take, until } = counter();
  const tails = [];
  for (const id of ids) {
    const path = `/v1/sessions/${id}/events/stream`;
    tails.push(await openTail({ url, key, path, onEvent: take }));
  }
  const open = memory();
  const times = [];
  let expected = 0;
  let before = 0;
  let warm = 0;
  for (let round = -WARM_UP; round < EVENTS; round++) {
    if (round === 0) [before, warm] = [cpu(), expected];
    const started = performance.now();
    expected += await append(round);
    const took = (await until(expected)) - started;
    if (round >= 0) times.push(took);
  }
  const used = (cpu() - before) / (expected - warm);
  for (const tail of tails) tail.close();
  return { ms: percentile(times, 0.5), cpu: used, memory: open };
}

/** All of a history, by pages. */
export async function measureHistory(gateway) {
  const id = await gateway.newSession();
  await fill(gateway, id, HISTORY);
  const figures = {};
  for (const limit of [100, 1_000]) {
    const before = gateway.cpu();
    const started = performance.now();
    let events = 0;
    let page = '';
    do {
      const path = `/v1/sessions/${id}/events?limit=${limit}${page && `&page=${page}`}`;
      const { data, next_page } = await gateway.call('GET', path);
      events += data.length;
      page = next_page;
    } while (page);
    if (events !== HISTORY) throw new Error(`${events} events in the history`);
    figures[`10,000 events by ${limit}, ms`] = performance.now() - started;
    figures[`CPU us/event, by ${limit}`] = (gateway.cpu() - before) / events;
  }
  return figures;
}

/** The same at the end of a long log as of a short one. */
export async function measureDepth(gateway) {
  const long = await gateway.newSession();
  await fill(gateway, long, LONG);
  const short = await gateway.newSession();
  await fill(gateway, short, SHORT);
  const ends = [await endOf(gateway, short, 20), await endOf(gateway, long, 1_000)];
  const [page, resume, append] = [
    await inTurns(ends, 300, ({ page }) => gateway.call('GET', page)),
    await inTurns(ends, 300, (end) => resumeAt(gateway, end)),
    await inTurns(ends, 300, ({ id }) =>
      gateway.call('POST', `/v1/sessions/${id}/events`, { events: [note('a word')] }),
    ),
  ];
  return {
    'page of 20 at event 10, ms': page[0],
    'x that at event 100,000': page[1] / page[0],
    'stream from event 10, ms': resume[0],
    'x from event 100,000': resume[1] / resume[0],
    'append at event 10, ms': append[0],
    'x at event 100,000': append[1] / append[0],
  };
}

/** A page of 20 in the last part of a log, and the event behind which 30 more stand. */
async function endOf({ call }, id, limit) {
  const events = `/v1/sessions/${id}/events`;
  const newest = await call('GET', `${events}?order=desc&limit=31`);
  let page = '';
  for (let next = ''; next !== null;) {
    page = next;
    next = (await call('GET', `${events}?limit=${limit}${page && `&page=${page}`}`)).next_page;
  }
  return { id, after: newest.data.at(-1).id, page: `${events}?limit=20&page=${page}` };
}

async function resumeAt({ url, key }, { id, after }) {
  const { take, until } = counter();
  const path = `/v1/sessions/${id}/events/stream`;
  const tail = await openTail({ url, key, path, after, onEvent: take });
  await until(30);
  tail.close();
}

/** Medians of what each takes, in ms, one beside the other. */
async function inTurns(items, times, work) {
  const taken = items.map(() => []);
  for (let time = 0; time < times; time++) {
    for (const [index, item] of items.entries()) {
      const started = performance.now();
      await work(item);
      taken[index].push(performance.now() - started);
    }
  }
  return taken.map((list) => percentile(list, 0.5));
}
