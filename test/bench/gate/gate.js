// Compares ratios of one run with those that are kept; measures nothing itself, so that a test can prove it.
import { readFileSync, writeFileSync } from 'node:fs';

/** Part of a kept ratio by which a measured one may be larger: builds alike differ by about 8 % of CPU. */
export const TOLERANCES = { CPU: 0.15, p50: 0.3, RSS: 0.1 };

/**
 * @typedef {{ gateway: Readonly<Record<string, number>>, proxy: Readonly<Record<string, number>> }} Start
 * @typedef {{ figure: string, kept: number | undefined, measured: number, most: number | undefined }} Compared
 * @typedef {Compared & { verdict: 'same' | 'better' | 'worse' | 'new' }} Judged
 */

/**
 * Measures so many starts, prints every ratio beside the one that is kept, and gives the exit code: 1 with
 * a line for each that is worse, else 0. With `update` the file gets the measured ones, and nothing fails.
 *
 * @param {{ measure: (start: number) => Promise<Start>, starts: number, file: string, update: boolean, say: (line: string) => void }} options
 */
export async function runGate({ measure, starts, file, update, say }) {
  const measured = [];
  for (let start = 0; start < starts; start++) measured.push(await measure(start));
  const ratios = ratiosOf(measured);
  const kept = JSON.parse(readFileSync(file, 'utf8'));
  say(`times the minimal proxy of the same run, medians of ${starts} starts`);
  for (const { figure, verdict, ...one } of judgeRatios(kept, ratios)) {
    const before = one.kept === undefined ? '' : `, kept ${one.kept}, at most ${round(one.most)}`;
    say(`  ${figure}: ${one.measured}${before}: ${verdict}`);
  }
  if (update) {
    writeFileSync(file, `${JSON.stringify(ratios, null, 2)}\n`);
    say(`written to ${file}`);
    return 0;
  }
  const faults = faultsOf(kept, ratios);
  for (const fault of faults) say(`worse: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

/**
 * Judges every measured ratio; smaller is better. A figure that is not kept yet is `new`. Throws where no
 * tolerance is stated for a figure, and where a measured one is no number: that is never a pass.
 *
 * @param {Readonly<Record<string, number>>} kept by figure; its last word is a key of {@link TOLERANCES}
 * @param {Readonly<Record<string, number>>} measured
 * @returns {Judged[]}
 */
export function judgeRatios(kept, measured) {
  return Object.entries(measured).map(([figure, ratio]) => {
    if (!Number.isFinite(ratio)) throw new Error(`${figure} could not be measured`);
    const tolerance = toleranceOf(figure);
    const before = kept[figure];
    if (before === undefined)
      return { figure, kept: undefined, measured: ratio, most: undefined, verdict: 'new' };
    const most = before * (1 + tolerance);
    const isBetter = ratio < before * (1 - tolerance);
    const verdict = ratio > most ? 'worse' : isBetter ? 'better' : 'same';
    return { figure, kept: before, measured: ratio, most, verdict };
  });
}

/**
 * Sentences that say why the gate fails; none when it passes. A figure that is kept and was not measured
 * fails it, too, and so does one that is not kept.
 *
 * @param {Readonly<Record<string, number>>} kept
 * @param {Readonly<Record<string, number>>} measured
 * @returns {string[]}
 */
export function faultsOf(kept, measured) {
  const faults = judgeRatios(kept, measured).flatMap(({ figure, verdict, ...one }) => {
    if (verdict === 'new') return [`${figure}: nothing is kept to compare with; use --update`];
    if (verdict !== 'worse') return [];
    const by = Math.round((one.measured / one.kept - 1) * 100);
    return [
      `${figure}: ${round(one.measured)} times the minimal proxy, kept are ${round(one.kept)}: ` +
        `${by} % more, ${Math.round(toleranceOf(figure) * 100)} % are tolerated`,
    ];
  });
  const missing = Object.keys(kept).filter((figure) => !(figure in measured));
  return [...faults, ...missing.map((figure) => `${figure}: kept, but not measured`)];
}

/**
 * Median over the starts of each figure, divided by that of the minimal proxy beside it.
 *
 * @param {readonly Start[]} starts
 * @returns {Record<string, number>}
 */
export function ratiosOf(starts) {
  const figures = Object.keys(starts[0]?.gateway ?? {});
  return Object.fromEntries(
    figures.map((figure) => [
      figure,
      round(median(starts.map(({ gateway, proxy }) => gateway[figure] / proxy[figure]))),
    ]),
  );
}

/** @param {string} figure */
function toleranceOf(figure) {
  const tolerance = TOLERANCES[/** @type {keyof typeof TOLERANCES} */ (figure.split(' ').at(-1))];
  if (tolerance === undefined) throw new Error(`no tolerance is stated for ${figure}`);
  return tolerance;
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** @param {number} value */
const round = (value) => Number(value.toPrecision(3));
