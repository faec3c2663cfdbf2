// The figures that Sessions and Schedules are to reach, from what the parts of the benchmark measured; measures
// nothing itself, so that a test can prove it.

/** Names under which the parts give the figures that have a goal. */
export const FIGURES = {
  cpu: 'CPU us/turn',
  answer: 'answer visible p50 ms',
  rate: 'turns/s',
  one: 'append to visible p99 ms, 1,000 Sessions of 1 stream',
  many: 'append to visible at all p99 ms, 1 Session of 100 streams',
  begun: 'all Sessions begun after s',
};

/**
 * @typedef {{ name: string, from: string, goal: number, isLeast?: boolean, scale?: number }} Goal
 * @type {readonly Goal[]}
 */
const GOALS = [
  { name: 'CPU of ours per turn, ms', from: FIGURES.cpu, goal: 1, scale: 1e-3 },
  { name: 'answer p50 at one Session, ms', from: FIGURES.answer, goal: 4 },
  { name: 'turns/s on two shared cores', from: FIGURES.rate, goal: 600, isLeast: true },
  { name: 'append to visible p99, 1,000 Sessions of one tail, ms', from: FIGURES.one, goal: 10 },
  { name: 'append to visible p99, one Session of 100 tails, ms', from: FIGURES.many, goal: 10 },
  { name: '10,000 Schedules due in one minute, all begun, s', from: FIGURES.begun, goal: 10 },
];

/**
 * Each figure beside its goal, by its name. A figure that was measured and is no number throws.
 *
 * @param {Readonly<Record<string, number>>} measured by the names in {@link FIGURES}
 * @returns {Record<string, { measured: number | '-', goal: string, verdict: 'reached' | 'missed' | 'not measured' }>}
 */
export function reportGoals(measured) {
  const rows = GOALS.map(({ name, from, goal, isLeast = false, scale = 1 }) => {
    const words = `${isLeast ? 'at least' : 'at most'} ${goal}`;
    if (!(from in measured)) return [name, { measured: '-', goal: words, verdict: 'not measured' }];
    const value = measured[from] * scale;
    if (!Number.isFinite(value)) throw new Error(`${name} could not be measured`);
    const isReached = isLeast ? value >= goal : value <= goal;
    const figure = Number(value.toPrecision(3));
    return [name, { measured: figure, goal: words, verdict: isReached ? 'reached' : 'missed' }];
  });
  return Object.fromEntries(rows);
}
