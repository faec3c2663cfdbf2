type Query = Readonly<Record<string, string>>;

/** Most rows that one stream is asked to begin with. */
const MOST_FIRST = 1_000;

/**
 * The narrowest query whose results include those of several tabs: a condition counts where all have it, the
 * time begins with the earliest. Tabs filter the results by themselves.
 */
export function mergeQueries(queries: readonly Query[]): Query {
  const [first = {}, ...others] = queries;
  const merged: Record<string, string> = {};
  for (const [name, value] of Object.entries(first)) {
    const values = [value, ...others.map((query) => query[name])];
    if (name === 'limit') merged[name] = String(most(values));
    else if (name === 'from') {
      if (values.every((one) => one !== undefined)) merged[name] = values.sort()[0] as string;
    } else if (values.every((one) => one === value)) merged[name] = value;
  }
  // Rows that a filter leaves out must not leave a page empty. The newest come first, so a span does.
  if (others.some((query) => !isSame(withoutSpan(query), withoutSpan(first))))
    merged['limit'] = String(MOST_FIRST);
  return merged;
}

/** True where a stream of one query includes all events of another one. */
export function covers(open: Query, needed: Query): boolean {
  const { from: since = '' } = open;
  const isEarlyEnough = since === '' || (needed['from'] !== undefined && since <= needed['from']);
  return isEarlyEnough && isSame(withoutSpan(open), withoutSpan(needed));
}

function withoutSpan({ from: _from, ...others }: Query): Query {
  return others;
}

function most(values: readonly (string | undefined)[]): number {
  return Math.min(MOST_FIRST, Math.max(...values.map((value) => Number(value ?? 0))));
}

export function isSame(a: Query, b: Query): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}
