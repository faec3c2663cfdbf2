// The figures that the console is to reach, from what the parts of the benchmark measured; measures nothing
// itself, so that a test can prove it.

/** Most CPU that open pages may add, in percent of one core, and most milliseconds of a query. */
const GOALS = { addedPercent: 5, queryMs: 100 };

/**
 * Says what open pages add to the CPU of the data plane beside the goal.
 *
 * @param {number} pages
 * @param {number} percent of one core
 */
export function judgePages(pages, percent) {
  const verdict = percent <= GOALS.addedPercent ? 'reached' : 'missed';
  const figure = `${percent.toFixed(1)} % of one core`;
  return `added by ${pages} pages: ${figure}, goal at most ${GOALS.addedPercent} %: ${verdict}`;
}

/**
 * Says which queries take as long as the goal or longer.
 *
 * @param {Readonly<Record<string, Readonly<Record<string, number>>>>} rows milliseconds by page and store
 */
export function judgeQueries(rows) {
  const slow = Object.entries(rows).flatMap(([page, figures]) =>
    Object.entries(figures)
      .filter(([, ms]) => !(ms < GOALS.queryMs))
      .map(([store, ms]) => `${page} on ${store} (${ms})`),
  );
  const verdict = slow.length === 0 ? 'reached' : `missed by ${slow.join(', ')}`;
  return `goal less than ${GOALS.queryMs} ms: ${verdict}`;
}
