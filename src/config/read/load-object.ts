import { checkReferences } from './check-references.ts';
import { checkSecrets } from './check-secrets.ts';
import { type ConfigFiles, nodeConfigFiles } from './load.ts';
import { resolveDocument } from './resolve.ts';
import { type DesiredState, toDesired } from '../objects/desired.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { checkSections } from '../schema/schema.ts';
import { type Diagnostic, hasErrors } from '../source/diagnostic.ts';
import { createPlaces } from '../source/locate.ts';

export interface LoadObjectOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Start of relative paths in references. */
  directory: string;
  /** Default: the real file system. */
  files?: ConfigFiles;
}

export interface LoadedObject {
  /** Holds the one object; undefined when any diagnostic is an error. */
  readonly desired: DesiredState | undefined;
  /** Paths begin at the object: `routes[0].provider`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Judges one entry of a section, wherever it comes from, as {@link loadConfig} judges it in a file. */
export async function loadObject(
  kind: KindName,
  entry: Readonly<Record<string, unknown>>,
  { env, directory, files = nodeConfigFiles }: LoadObjectOptions,
): Promise<LoadedObject> {
  const { collection } = kindOf(kind);
  const tree = structuredClone({ version: 1, [collection]: [entry] });
  const places = createPlaces();
  const place = { file: '', line: 1, column: 1 };
  const document = { source: { file: '', directory, text: '' }, value: tree, place };
  const resolved = await resolveDocument(document, { places, sources: { env, files } });
  const sections = checkSections(tree, { places, unknownFields: 'error' });
  const unresolved = new Set(resolved.diagnostics.map(({ path }) => path));
  // Reports a fault once whose only cause is an unresolved reference.
  const judged = [...sections.diagnostics, ...checkReferences(tree, places, collection)].filter(
    ({ path }) => !unresolved.has(path),
  );
  const found = [...resolved.diagnostics, ...judged, ...checkSecrets(tree, places)];
  const diagnostics = withoutRepeats(found.map((one) => ({ ...one, path: below(one.path) })));
  if (hasErrors(diagnostics)) return { desired: undefined, diagnostics };
  return { desired: toDesired(sections.tree, () => place), diagnostics };
}

/** `models[0].routes` is `routes`. */
function below(path: string): string {
  return path.replace(/^\w+\[0\]\.?/, '');
}

function withoutRepeats(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ path, message }) => {
    const key = `${path}: ${message}`;
    return !seen.has(key) && seen.add(key);
  });
}
