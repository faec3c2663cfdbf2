import { acceptAgentNames } from './accept-agent-names.ts';
import { checkReferences } from './check-references.ts';
import { type EnvFileUse, readEnvFile, useOf } from './env-file.ts';
import { checkSecrets } from './check-secrets.ts';
import { type ConfigFiles, nodeConfigFiles } from './load.ts';
import { resolveDocument } from './resolve.ts';
import { nameWords } from './section-names.ts';
import type { ReferenceSources } from '../objects/references.ts';
import { type DesiredState, toDesired } from '../objects/desired.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { checkSections } from '../schema/schema.ts';
import { type Diagnostic, hasErrors } from '../source/diagnostic.ts';
import { createPlaces } from '../source/locate.ts';

export interface LoadObjectOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Start of relative paths in references, and folder of the `.env`. */
  directory: string;
  /** True: a `.env` in the folder counts for references. Default false. */
  envFile?: boolean;
  /** Default: the real file system. */
  files?: ConfigFiles;
}

export interface LoadedObject {
  /** Holds the one object; undefined when any diagnostic is an error. */
  readonly desired: DesiredState | undefined;
  /** Paths begin at the object: `routes[0].provider`. */
  readonly diagnostics: readonly Diagnostic[];
  /** Sources of the secrets that are still references. */
  readonly sources: ReferenceSources;
  /** Variables that only the `.env` sets, of those that references name. */
  readonly fromEnvFile: EnvFileUse;
}

/** Judges one entry of a section, wherever it comes from, as {@link loadConfig} judges it in a file. */
export async function loadObject(
  kind: KindName,
  entry: Readonly<Record<string, unknown>>,
  options: LoadObjectOptions,
): Promise<LoadedObject> {
  const { collection } = kindOf(kind);
  const { directory, files = nodeConfigFiles } = options;
  const envFile = await readEnvFile({ ...options, paths: ['-'], cwd: directory, files });
  const env = { ...options.env, ...envFile.values };
  const sources = { env, files, envFile: envFile.path };
  const tree = structuredClone({ version: 1, [collection]: [entry] });
  const places = createPlaces();
  const place = { file: '', line: 1, column: 1 };
  const document = { source: { file: '', directory, text: '' }, value: tree, place };
  const resolved = await resolveDocument(document, { places, sources });
  nameWords(tree);
  acceptAgentNames(tree);
  const sections = checkSections(tree, { places, unknownFields: 'error' });
  const unresolved = new Set(resolved.diagnostics.map(({ path }) => path));
  // Reports a fault once whose only cause is an unresolved reference.
  const judged = [
    ...sections.diagnostics,
    ...checkReferences(tree, places, { partial: collection }),
  ].filter(({ path }) => !unresolved.has(path));
  const found = [
    ...envFile.diagnostics,
    ...resolved.diagnostics,
    ...judged,
    ...checkSecrets(tree, places),
  ];
  const diagnostics = withoutRepeats(found.map((one) => ({ ...one, path: below(one.path) })));
  const desired = hasErrors(diagnostics) ? undefined : toDesired(sections.tree, () => place);
  return { desired, diagnostics, sources, fromEnvFile: useOf(envFile, resolved.variables) };
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
