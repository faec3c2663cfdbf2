// Sessions at speed, through the shipped binary: latency, writes, turns, followers, histories.
import { join, resolve } from 'node:path';
import { percentile } from './load.js';
import { measureDepth, measureHistory, measureTails } from './sessions/reads.js';
import { startSessionGateway } from './sessions/session-gateway.js';
import { measureLatency, measureTurns, measureWrites } from './sessions/work.js';

const PARTS = {
  latency: { title: 'a message and its answer on an open stream', measure: measureLatency },
  writes: { title: 'Sessions made, events appended (16 connections)', measure: measureWrites },
  turns: { title: '500 messages to 500 Sessions at once', measure: measureTurns },
  tails: { title: '1,000 open streams', measure: measureTails, rounds: 3 },
  history: { title: 'a history of 10,000 events', measure: measureHistory, rounds: 3 },
  depth: { title: 'event 10 and event 100,000', measure: measureDepth, rounds: 1 },
};

/**
 * @param {{ root: string, directory: string, ms: number, rounds: number, only?: string, against?: string, profile?: string }} options
 */
export async function measureSessions({ root, directory, ms, only = '', ...options }) {
  const builds = [{ name: 'gateway', root }];
  if (options.against) builds.push({ name: 'against', root: resolve(options.against) });
  const chosen = only.split('/')[1];
  for (const [name, { title, measure, rounds = options.rounds }] of Object.entries(PARTS)) {
    if (chosen && chosen !== name) continue;
    const times = Math.min(rounds, options.rounds);
    const gateways = [];
    for (const [index, build] of builds.entries()) {
      const place = join(directory, `sessions-${name}-${index}`);
      const { profile } = options;
      const gateway = await startSessionGateway({ ...build, directory: place, profile });
      gateways.push({ gateway, name: build.name, figures: [] });
    }
    // The first round warms up, where there are many.
    for (let round = times > 1 ? -1 : 0; round < times; round++) {
      for (const { gateway, figures } of gateways) {
        const figure = await measure(gateway, { ms });
        if (round >= 0) figures.push(figure);
      }
    }
    for (const { gateway } of gateways) await gateway.stop();
    print(`${title} (medians of ${times} rounds)`, gateways);
  }
}

function print(title, gateways) {
  const [own, other] = gateways.map(({ figures }) => figures);
  const rows = Object.keys(own[0]).map((name) => {
    const row = {
      gateway: round(
        percentile(
          own.map((figure) => figure[name]),
          0.5,
        ),
      ),
    };
    if (!other) return [name, row];
    const ratios = own.map((figure, index) => figure[name] / other[index][name]);
    row.against = round(
      percentile(
        other.map((figure) => figure[name]),
        0.5,
      ),
    );
    return [name, { ...row, ratio: round(percentile(ratios, 0.5)) }];
  });
  console.log(`\n${title}`);
  console.table(Object.fromEntries(rows));
}

function round(value) {
  return Number(value.toPrecision(3));
}
