import { readFileSync } from 'node:fs';

/** The three parts of the manifest. */
export const PARTS = ['./requirements.yaml', './requirements-2.yaml', './requirements-3.yaml'].map(
  (name) => new URL(name, import.meta.url),
);

/** Read line by line: every worker needs the ids alone, and to parse the manifest takes half a second. */
export const REQUIREMENT_IDS: ReadonlySet<string> = new Set(
  PARTS.flatMap((part) =>
    Array.from(readFileSync(part, 'utf8').matchAll(/^- id: (\S+)$/gm), ([, id = '']) => id),
  ),
);

/**
 * Ties a test to the requirements that it proves: `it(verifies('chat.response.json', 'answers …'), …)`.
 * The last argument is the test's title; an unknown id fails when the test file loads.
 */
export function verifies(...idsAndTitle: [string, ...string[], string]): string {
  const title = idsAndTitle.at(-1) as string;
  for (const id of idsAndTitle.slice(0, -1)) {
    if (!REQUIREMENT_IDS.has(id)) throw new Error(`no requirement has the id ${id}`);
  }
  return title;
}
