/** Path of a value in a JSON document: member names and positions. */
export type JsonPath = readonly (string | number)[];

/** `.name`, `['name']`, `["name"]` or `[7]`, the short part of RFC 9535 that names one value at most. */
const STEP = /\.([A-Za-z_][\w-]*)|\[(?:'([^'\\]+)'|"([^"\\]+)"|(0|[1-9]\d{0,8}))\]/y;

/** Steps of one path. */
const MAX_STEPS = 32;

/** Reads `$.usage.total_tokens` or `$.data[0]['size']`; undefined for any other text. */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (!text.startsWith('$')) return undefined;
  const steps: (string | number)[] = [];
  let at = 1;
  while (at < text.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(text);
    if (!match || steps.length === MAX_STEPS) return undefined;
    const [whole, name, single, double, position] = match;
    steps.push(position === undefined ? ((name ?? single ?? double) as string) : Number(position));
    at += whole.length;
  }
  return steps.length === 0 ? undefined : steps;
}

/** The value at the path; undefined where the document has none. */
export function valueAt(document: unknown, path: JsonPath): unknown {
  let value = document;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
