import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Imports of what exists only for the compiler. */
const OF_TYPES = /\b(?:import|export)\s+type\b[^'"]*['"][^'"]+['"]/g;
const IMPORTED = /(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)['"]/g;

/**
 * Paths of the tests that load one of the sources, from the root of the repository like theirs: by source
 * first those that share most words with its path, among them those that reach it over the fewest imports.
 * The nearest of every source come before the second nearest of any.
 */
export function testsNear(root: string, ...sources: readonly string[]): string[] {
  const importers = importersIn(root);
  const places = new Map<string, number>();
  for (const source of sources)
    for (const [place, path] of nearestFirst(importers, source).entries())
      places.set(path, Math.min(place, places.get(path) ?? place));
  return [...places].sort(([, one], [, other]) => one - other).map(([path]) => path);
}

function nearestFirst(importers: ReadonlyMap<string, string[]>, source: string): string[] {
  const distances = new Map([[source, 0]]);
  // Grows while it is walked.
  for (const [path, distance] of distances)
    for (const importer of importers.get(path) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  const sought: ReadonlySet<string> = new Set(wordsOf(source.replace(/^src\/|\.ts$/g, '')));
  const shared = (path: string): number =>
    new Set(wordsOf(path).filter((word) => sought.has(word))).size;
  return [...distances.keys()]
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => ({ path, shared: shared(path), distance: distances.get(path) ?? 0 }))
    .sort((one, other) => other.shared - one.shared || one.distance - other.distance)
    .map(({ path }) => path);
}

/** Words of a path, in the singular. */
function wordsOf(path: string): string[] {
  return path.split(/[/.-]/).map((word) => word.replace(/s$/, ''));
}

/** Files by what they import. */
function importersIn(root: string): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const room of ['src', 'test'])
    for (const name of readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name)) continue;
      const path = join(root, room, name);
      const text = readFileSync(path, 'utf8').replaceAll(OF_TYPES, '');
      for (const [, imported = ''] of text.matchAll(IMPORTED)) {
        const target = relative(root, join(dirname(path), imported));
        importers.set(target, [...(importers.get(target) ?? []), relative(root, path)]);
      }
    }
  return importers;
}
