// Sessions at speed, through the shipped binary: latency, writes, turns, followers, histories.
import { join, resolve } from 'node:path';
import { percentile } from './load.js';
import { measureDepth, measureHistory, measureTails } from './sessions/reads.js';
import { startSessionGateway } from './sessions/session-gateway.js';
import { measureVisible } from './sessions/visible.js';
import { measureLatency, measureTurns, measureWrites } from './sessions/work.js';

/** Those with figures that have a goal: `--only sessions/goals`. */
const WITH_GOALS = ['latency', 'turns', 'visible'];

const PARTS = {
  latency: { title: 'a message and its answer on an open stream', measure: measureLatency },
  writes: { title: 'Sessions made, events appended (16 connections)', measure: measureWrites },
  turns: { title: '500 messages to 500 Sessions at once', measure: measureTurns },
  visible: {
    title: 'from an append to open streams',
    measure: measureVisible,
    rounds: 3,
    isFresh: true,
  },
  tails: { title: '1,000 open streams', measure: measureTails, rounds: 3, isFresh: true },
  history: { title: 'a history of 10,000 events', measure: measureHistory, rounds: 3 },
  depth: { title: 'event 10 and event 100,000', measure: measureDepth, rounds: 1 },
};

/**
 * @param {{ root: string, directory: string, ms: number, rounds: number, only?: string, against?: string, profile?: string }} options
 * @returns {Promise<Record<string, number>>} medians of this checkout by the names of the figures
 */
export async function measureSessions({ root, directory, ms, only = '', ...options }) {
  const builds = [{ name: 'gateway', root }];
  if (options.against) builds.push({ name: 'against', root: resolve(options.against) });
  const chosen = only.split('/')[1];
  const names = chosen === 'goals' ? WITH_GOALS : [chosen ?? Object.keys(PARTS)].flat();
  const measured = {};
  for (const name of names) {
    const part = PARTS[name];
    const rounds = Math.min(part.rounds ?? options.rounds, options.rounds);
    const place = (build) => join(directory, `sessions-${name}-${build.name}`);
    const start = (build) =>
      startSessionGateway({ ...build, directory: place(build), profile: options.profile });
    const sides = builds.map((build) => ({ build, figures: [] }));
    // The first round warms up, where there are many.
    for (let round = rounds > 1 && !part.isFresh ? -1 : 0; round < rounds; round++) {
      for (const side of sides) {
        side.gateway ??= await start(side.build);
        const figure = await part.measure(side.gateway, { ms });
        if (round >= 0) side.figures.push(figure);
        if (!part.isFresh && round < rounds - 1) continue;
        await side.gateway.stop();
        side.gateway = undefined;
      }
    }
    Object.assign(measured, print(`${part.title} (medians of ${rounds} rounds)`, sides));
  }
  return measured;
}

function print(title, sides) {
  const [own, other] = sides.map(({ figures }) => figures);
  const medianOf = (figures, name) =>
    round(
      percentile(
        figures.map((figure) => figure[name]),
        0.5,
      ),
    );
  const rows = Object.keys(own[0]).map((name) => {
    const row = { gateway: medianOf(own, name) };
    if (!other) return [name, row];
    const ratios = own.map((figure, index) => figure[name] / other[index][name]);
    return [
      name,
      { ...row, against: medianOf(other, name), ratio: round(percentile(ratios, 0.5)) },
    ];
  });
  console.log(`\n${title}`);
  console.table(Object.fromEntries(rows));
  return Object.fromEntries(rows.map(([name, { gateway }]) => [name, gateway]));
}

function round(value) {
  return Number(value.toPrecision(3));
}
