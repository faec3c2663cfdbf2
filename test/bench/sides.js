// Measures several sides in turn, in one run, and prints each beside the first.
import { percentile } from './load.js';

/**
 * @template S
 * @param {S[]} sides every one with a `name`
 * @param {{ rounds: number, measure: (side: S) => Promise<Record<string, number>> }} options
 * @returns {Promise<Map<string, Record<string, number>[]>>} the figures of every round, by name
 */
export async function alternate(sides, { rounds, measure }) {
  const figures = new Map(sides.map(({ name }) => [name, []]));
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const side of sides) {
      const figure = await measure(side);
      if (round >= 0) figures.get(side.name).push(figure);
    }
  }
  return figures;
}

/** Medians, and for all but the first side the median of the ratios to it within a round. */
export function printSides(title, figures) {
  const [[first, base], ...others] = figures;
  const rows = Object.keys(base[0]).map((figure) => {
    const row = { [first]: round(median(base.map((one) => one[figure]))) };
    for (const [name, own] of others) {
      row[name] = round(median(own.map((one) => one[figure])));
      row[`${name}, x`] = round(medianRatio(own, base, figure));
    }
    return [figure, row];
  });
  console.log(`\n${title} (medians of ${base.length} rounds; x: ratio to ${first})`);
  console.table(Object.fromEntries(rows));
}

/** Of a figure of one side to that of another, within each round. */
export function medianRatio(own, base, figure) {
  return median(own.map((one, round) => one[figure] / base[round][figure]));
}

function median(values) {
  return percentile(values, 0.5);
}

function round(value) {
  return Number(value.toPrecision(3));
}
