// From a message to its answer: latency, throughput, many turns at once.
import { percentile, runLoad } from '../load.js';
import { FIGURES } from './report.js';
import { note } from './session-gateway.js';
import { openTail } from './tail.js';

const TURNS = 500;
const CONNECTIONS = 16;

/** From `run` to its event on a stream that is open, one message after the other. */
export async function measureLatency(gateway, { ms }) {
  const { call, run, url, key } = gateway;
  const session_id = await gateway.newSession();
  let onEvent = () => {};
  const path = `/v1/sessions/${session_id}/events/stream`;
  const tail = await openTail({ url, path, key, onEvent: (type) => onEvent(type) });
  const seen = { 'user.message': [], 'agent.message': [], 'session.status_idle': [] };
  const direct = [];
  const ask = { model: 'bench/model', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] };
  const end = performance.now() + ms;
  for (let first = true; first || performance.now() < end; first = false) {
    const at = performance.now();
    const isOver = new Promise((resolve) => {
      onEvent = (type) => {
        seen[type]?.push(performance.now() - at);
        if (type === 'session.status_idle') resolve();
      };
    });
    await call('POST', run, { session_id, input: 'hello' });
    await isOver;
    const asked = performance.now();
    await call('POST', '/v1/messages', ask);
    direct.push(performance.now() - asked);
  }
  tail.close();
  const [sent, answered, idle] = Object.values(seen);
  const p50 = (list) => percentile(list, 0.5);
  return {
    'message visible p50 ms': p50(sent),
    'message visible p99 ms': percentile(sent, 0.99),
    [FIGURES.answer]: p50(answered),
    'answer visible p99 ms': percentile(answered, 0.99),
    'turn over p50 ms': p50(idle),
    'turn over, x a direct model call': p50(idle) / p50(direct),
  };
}

/** Sessions made, and events appended to one Session, as fast as they are taken. */
export async function measureWrites(gateway, { ms }) {
  const id = await gateway.newSession();
  const call = await load(gateway, { path: '/v1/chat/completions', body: chat, ms });
  const made = await load(gateway, {
    path: '/v1/sessions',
    body: { agent: gateway.agentId },
    ms,
  });
  const path = `/v1/sessions/${id}/events`;
  const appended = await load(gateway, { path, body: { events: [note('a word')] }, ms });
  return {
    'Sessions made/s': made.rate,
    'CPU us/Session': made.cpu,
    'a Session, x a direct model call': made.cpu / call.cpu,
    'events appended to one Session/s': appended.rate,
    'CPU us/append': appended.cpu,
  };
}

const chat = { model: 'bench/model', messages: [{ role: 'user', content: 'hello' }] };
const streamed = { ...chat, max_tokens: 100, stream: true };

/** Five hundred messages to as many Sessions at once: until every turn is over, and what one costs. */
export async function measureTurns(gateway) {
  const direct = await load(gateway, { path: '/v1/messages', body: streamed, requests: TURNS });
  const quick = await runTurns(gateway, 'hello');
  const slow = await runTurns(gateway, 'slowly');
  return {
    'all over s': quick.seconds,
    [FIGURES.rate]: TURNS / quick.seconds,
    [FIGURES.cpu]: quick.cpu,
    'a turn, x a direct model call': quick.cpu / direct.cpu,
    'all over s, model takes 0.5 s': slow.seconds,
  };
}

/** Five hundred turns that somebody asks for, in s, and what one costs. */
export async function runTurns(gateway, input) {
  const started = performance.now();
  const before = gateway.cpu();
  const body = JSON.stringify({ input });
  const { url, key, run } = gateway;
  const sent = await runLoad({ url, key, path: run, body, connections: 50, requests: TURNS });
  if (sent.failures > 0) throw new Error(`${run}: ${sent.failures} failed`);
  const atWork = '/v1/sessions?limit=1&statuses=running,rescheduling';
  while ((await gateway.call('GET', atWork)).data.length > 0) await sleep(50);
  const seconds = (performance.now() - started) / 1000;
  return { seconds, cpu: (gateway.cpu() - before) / TURNS };
}

async function load(gateway, { path, body, ...bounds }) {
  const { url, key } = gateway;
  const before = gateway.cpu();
  const options = { url, key, path, body: JSON.stringify(body), connections: CONNECTIONS };
  const { requests, failures, seconds } = await runLoad({ ...options, ...bounds });
  if (failures > 0) throw new Error(`${path}: ${failures} of ${requests} failed`);
  return { rate: requests / seconds, cpu: (gateway.cpu() - before) / requests };
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
