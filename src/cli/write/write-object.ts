import { randomUUID } from 'node:crypto';
import type { ActualState, View } from '../../config/actual/actual.ts';
import type { ResourceClient } from '../../config/actual/resource-client.ts';
import { readActual } from '../../config/apply/apply.ts';
import { ObjectWriter } from '../../config/apply/object-writer.ts';
import { CONFIG_KINDS, kindOf, type KindName } from '../../config/objects/kinds.ts';
import type { DesiredObject, DesiredState } from '../../config/objects/desired.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import type { PlanAction } from '../../config/plan/plan-action.ts';
import { describeEnvFile } from '../../config/read/env-file.ts';
import { loadObject, type LoadedObject } from '../../config/read/load-object.ts';
import { resolveAllSecrets } from '../../config/read/secrets.ts';
import { type Diagnostic, formatDiagnostics } from '../../config/source/diagnostic.ts';
import type { CommandResult } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { collectionOf } from '../../core/kinds.ts';
import { warnOf } from '../output/warn-of.ts';
import { readsEnvFile } from '../project/project.ts';
import { wordOf } from '../resources/not-found.ts';
import type { ChangedEntry, Entry } from './change-entry.ts';

/** The document that declares an object. */
export function toDocument(kind: KindName, entry: Entry): Record<string, unknown> {
  return { version: 1, [kindOf(kind).collection]: [entry] };
}

export async function loadEntry(
  kind: KindName,
  { entry, directory }: ChangedEntry,
  { io, globals, output }: CommandContext,
): Promise<LoadedObject> {
  const options = { env: io.env, directory, envFile: readsEnvFile(globals) };
  const loaded = await loadObject(kind, entry, options);
  const taken = describeEnvFile(loaded.fromEnvFile);
  if (taken !== undefined) output.note(taken);
  return loaded;
}

/** The failure for an object that cannot be (exit 3): each fault with the path of its field. */
export function invalidObject(
  kind: KindName,
  diagnostics: readonly Diagnostic[],
  { format }: CommandContext,
): CommandResult {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const faults = diagnostics.map(({ path, severity, message, hint }) => {
    return { path, severity, message, ...(hint !== undefined && { hint }) };
  });
  return {
    data: format === 'json' ? { diagnostics: faults } : null,
    text: '',
    failure: {
      code: 'invalid_config',
      message: `the ${wordOf(collectionOf(kind))} has ${errors} ${errors === 1 ? 'error' : 'errors'}`,
      details: formatDiagnostics(diagnostics, 'text'),
      exitCode: EXIT.invalid_config.code,
    },
  };
}

/** Lists each kind once, however often it is asked for. */
export function readOnce(resources: ResourceClient): ResourceClient {
  const lists = new Map<KindName, Promise<View[]>>();
  return {
    ...resources,
    list(kind) {
      const known = lists.get(kind) ?? resources.list(kind);
      lists.set(kind, known);
      return known;
    },
  };
}

/** Reads the objects that a plan of the object needs, and those whose ids are in `mentions`. */
export async function readAround(
  resources: ResourceClient,
  desired: Pick<DesiredState, 'managed' | 'objects'>,
  mentions: unknown,
): Promise<ActualState> {
  const text = JSON.stringify(mentions);
  const named = CONFIG_KINDS.filter(({ definition }) => text.includes(`"${definition.idPrefix}_`));
  const managed = new Set([...desired.managed, ...named.map(({ kind }) => kind)]);
  return readActual(resources, { ...desired, managed });
}

export interface Write {
  readonly planned: PlanAction;
  readonly object: DesiredObject;
  readonly actual: ActualState;
  readonly resources: ResourceClient;
  readonly sources: ReferenceSources;
}

/** Writes the object as declared, without a namespace; faults of secrets are the result. */
export async function writeObject(
  { planned, object, actual, resources, sources }: Write,
  { signal, output }: CommandContext,
): Promise<{ view: View } | { faults: readonly Diagnostic[] }> {
  const { secrets, diagnostics } = await resolveAllSecrets({ objects: [object] }, sources);
  if (diagnostics.length > 0) return { faults: diagnostics };
  const options = { client: resources, secrets, runId: randomUUID(), signal };
  const view = await new ObjectWriter(options, actual).write(planned, object);
  warnOf(view, output);
  return { view };
}
