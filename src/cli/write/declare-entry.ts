import type { KindName } from '../../config/objects/kinds.ts';
import type { CommandResult } from '../command.ts';
import type { CommandContext } from '../context.ts';
import type { Entry } from './change-entry.ts';
import { invalidObject, loadEntry, toDocument } from './write-object.ts';
import { withReferences } from './name-references.ts';

/** The document that declares an object, judged as a file is; an entry with faults is exit 3. */
export async function declareEntry(
  kind: KindName,
  fields: Entry,
  context: CommandContext,
): Promise<CommandResult> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const entry = withReferences(kind, Object.fromEntries(given));
  const changed = { entry, given: new Set<string>(), directory: context.io.cwd };
  const { desired, diagnostics } = await loadEntry(kind, changed, context);
  if (desired === undefined) return invalidObject(kind, diagnostics, context);
  return { data: toDocument(kind, entry) };
}
