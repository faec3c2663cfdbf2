// From an append to its event on open streams: many Sessions of one follower each, one of many.
import { percentile } from '../load.js';
import { FIGURES } from './report.js';
import { note } from './session-gateway.js';
import { openTail } from './tail.js';

const SESSIONS = 1_000;
const FOLLOWERS = 100;
const APPENDS = 1_000;
/** Appends under way at once. */
const AT_ONCE = 4;
const WARM_UP = 100;

export async function measureVisible(gateway) {
  const ids = await Promise.all(Array.from({ length: SESSIONS }, gateway.newSession));
  const many = await appendAndSee(gateway, ids, 1);
  const one = await appendAndSee(gateway, [await gateway.newSession()], FOLLOWERS);
  return {
    'append to visible p50 ms, 1,000 Sessions of 1 stream': percentile(many.times, 0.5),
    [FIGURES.one]: percentile(many.times, 0.99),
    'CPU us/append, 1 stream': many.cpu,
    'append to visible at all p50 ms, 1 Session of 100 streams': percentile(one.times, 0.5),
    [FIGURES.many]: percentile(one.times, 0.99),
    'CPU us/append, 100 streams': one.cpu,
  };
}

/** Appends to the Sessions in turn; an append is over when every stream of its Session has its event. */
async function appendAndSee(gateway, ids, followers) {
  const sessions = [];
  for (const id of ids) sessions.push(await openSession(gateway, id, followers));
  const times = [];
  let begun = 0;
  let before = 0;
  const atOnce = Math.min(AT_ONCE, ids.length);
  const worker = async () => {
    while (begun < APPENDS + WARM_UP) {
      const turn = begun++;
      if (turn === WARM_UP) before = gateway.cpu();
      const took = await sessions[turn % sessions.length].append();
      if (turn >= WARM_UP) times.push(took);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const cpu = (gateway.cpu() - before) / APPENDS;
  for (const { close } of sessions) close();
  return { times, cpu };
}

async function openSession({ url, key, call }, id, followers) {
  let left = 0;
  let onAll = () => {};
  const onEvent = () => {
    left -= 1;
    if (left === 0) onAll();
  };
  const path = `/v1/sessions/${id}/events/stream`;
  const tails = [];
  for (let one = 0; one < followers; one++) tails.push(await openTail({ url, key, path, onEvent }));
  return {
    async append() {
      left = followers;
      const isSeen = new Promise((resolve) => (onAll = resolve));
      const at = performance.now();
      const sent = call('POST', `/v1/sessions/${id}/events`, { events: [note('a word')] });
      await isSeen;
      const took = performance.now() - at;
      await sent;
      return took;
    },
    close() {
      for (const tail of tails) tail.close();
    },
  };
}
