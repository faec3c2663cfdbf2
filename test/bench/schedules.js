// Ten thousand Schedules through the shipped binary: what they cost while none is due, and when all
// of them are due in the same minute.
import { join } from 'node:path';
import { FIGURES } from './sessions/report.js';
import { startSessionGateway } from './sessions/session-gateway.js';
import { runTurns } from './sessions/work.js';

const SCHEDULES = 10_000;
/** Made first, to learn how fast they are made; they are never due. */
const TRIAL = 500;
const AT_ONCE = 16;
const IDLE_MS = 10_000;
const MINUTE = 60_000;
/** Less CPU than this in the time between two looks: nothing is left to do. */
const REST = { lookMs: 2_000, cpuMicros: 100_000 };

/**
 * @param {{ root: string, directory: string, profile?: string }} options
 * @returns {Promise<Record<string, number>>} the figure that has a goal
 */
export async function measureSchedules({ root, directory, profile }) {
  const place = join(directory, 'schedules');
  const gateway = await startSessionGateway({ root, directory: place, profile });
  const turn = await runTurns(gateway, 'hello');
  const none = await idleCpu(gateway);
  const began = performance.now();
  await make(gateway, TRIAL, '0 0 1 1 *');
  const each = (performance.now() - began) / TRIAL;
  const due = minuteAfter(Date.now() + SCHEDULES * each * 1.5 + IDLE_MS + 10_000);
  await make(gateway, SCHEDULES, expressionOf(due));
  const idle = await idleCpu(gateway);
  if (Date.now() > due) throw new Error('this machine is too slow: they were due before all stood');
  const fired = await fire(gateway, due);
  await gateway.stop();
  print({ each, none, idle, turn, ...fired });
  return { [FIGURES.begun]: fired.begun / 1_000 };
}

async function make({ call, agentId }, count, expression) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await call('POST', '/v1/deployments', {
        name: `report ${expression} ${next}`,
        agent_id: agentId,
        schedule: { type: 'cron', expression, timezone: 'UTC' },
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function idleCpu({ cpu }) {
  await sleep(1_000);
  const before = cpu();
  await sleep(IDLE_MS);
  return cpu() - before;
}

/** Waits until all have fired and their turns are over; nobody asks meanwhile. */
async function fire(gateway, due) {
  await sleep(due - Date.now() - 500);
  const before = gateway.cpu();
  for (let used = before; ;) {
    await sleep(REST.lookMs);
    const now = gateway.cpu();
    const isQuiet = now - used < REST.cpuMicros && Date.now() > due + REST.lookMs;
    used = now;
    if (!isQuiet) continue;
    const sessions = await all(gateway, '/v1/sessions?limit=100');
    const own = sessions.filter(({ entry_point: point }) => point === 'schedule');
    if (own.length < SCHEDULES || own.some(({ status }) => status !== 'idle')) continue;
    const runs = await all(gateway, '/v1/deployment_runs?limit=100');
    expectEach(runs, due);
    return {
      claimed: lastOf(runs, 'created_at') - due,
      begun: lastOf(own, 'created_at') - due,
      over: lastOf(own, 'updated_at') - due,
      cpu: (now - before) / SCHEDULES,
    };
  }
}

function expectEach(runs, due) {
  const schedules = new Set(runs.map(({ deployment_id: id }) => id));
  const sessions = new Set(runs.map(({ session_id: id }) => id));
  const isDue = ({ trigger_context: { scheduled_at: at } }) => Date.parse(at) === due;
  const isWhole = [runs.length, schedules.size, sessions.size].every((n) => n === SCHEDULES);
  if (!isWhole || sessions.has(null) || !runs.every(isDue))
    throw new Error(`${runs.length} runs of ${schedules.size} Schedules`);
}

async function all({ call }, path) {
  const items = [];
  for (let page = ''; page !== null;) {
    const { data, next_page } = await call('GET', `${path}${page && `&page=${page}`}`);
    items.push(...data);
    page = next_page ?? null;
  }
  return items;
}

const lastOf = (items, member) => Math.max(...items.map((item) => Date.parse(item[member])));

function print({ each, none, idle, turn, claimed, begun, over, cpu }) {
  const seconds = (ms) => Number((ms / 1_000).toFixed(2));
  console.log(`\n${SCHEDULES.toLocaleString('en')} Schedules due in the same minute`);
  console.table({
    'Schedules made/s': Math.round(1_000 / each),
    'CPU ms in 10 s without any': none / 1_000,
    'CPU ms in 10 s with all, none due': idle / 1_000,
    'all claimed after s': seconds(claimed),
    [FIGURES.begun]: seconds(begun),
    'all turns over after s': seconds(over),
    'CPU us/firing, its turn included': Math.round(cpu),
    'x a turn that somebody asked for': Number((cpu / turn.cpu).toFixed(2)),
  });
}

function minuteAfter(instant) {
  return Math.ceil(instant / MINUTE) * MINUTE;
}

function expressionOf(instant) {
  const at = new Date(instant);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
