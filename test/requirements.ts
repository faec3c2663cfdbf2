import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Requirement {
  id: string;
  from: 'spec' | 'decision' | 'field';
  section: string;
  text: string;
  area: string;
}

/** The three parts of the manifest. */
export const REQUIREMENTS: ReadonlyMap<string, Requirement> = new Map(
  ['./requirements.yaml', './requirements-2.yaml', './requirements-3.yaml']
    .flatMap((name) => parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as Requirement[])
    .map((requirement) => [requirement.id, requirement]),
);

/**
 * Ties a test to the requirements that it proves: `it(verifies('chat.response.json', 'answers …'), …)`.
 * The last argument is the test's title; an unknown id fails when the test file loads.
 */
export function verifies(...idsAndTitle: [string, ...string[], string]): string {
  const title = idsAndTitle.at(-1) as string;
  for (const id of idsAndTitle.slice(0, -1)) {
    if (!REQUIREMENTS.has(id)) throw new Error(`no requirement has the id ${id}`);
  }
  return title;
}
