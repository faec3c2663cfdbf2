import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { suggest } from '../../core/suggest.ts';
import { checkAccounts } from './check-accounts.ts';
import { checkEntries } from './check-entries.ts';
import { checkTree } from './check-tree.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { COLLECTIONS, CONFIG_KINDS, type ConfigKind } from '../objects/kinds.ts';
import { formatPath, type Places } from '../source/locate.ts';
import { serverSchema } from './server-schema.ts';

/** Name of a namespace. */
export const namespace = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/, 'expected lower-case letters, digits, . _ and -')
  .describe('Marks what apply creates. Default: default.');

const version = z.literal(1).describe('Version of this format.');

const collections = () =>
  Object.fromEntries(
    CONFIG_KINDS.map((kind) => [
      kind.collection,
      sectionOf(kind).optional().describe(kind.description),
    ]),
  );

/** A list of entries; for some kinds also a mapping of their names. */
function sectionOf({ entry, definition: { shortForm } }: ConfigKind): z.ZodType {
  const entries = z.array(entry);
  if (shortForm === undefined) return entries;
  const field = entry.shape[shortForm] as z.ZodType;
  return z.union([entries, z.record(z.string(), z.union([field, entry.omit({ name: true })]))]);
}

const moved = once(() => {
  const renamedName = z.string().trim().min(1);
  return z
    .array(
      z.strictObject({
        kind: z.enum(CONFIG_KINDS.map(({ kind }) => kind)).describe('What it is.'),
        organization: renamedName.optional().describe('Whose it is. Default: default.'),
        from: renamedName.describe('Name so far.'),
        to: renamedName.describe('Name that is declared here.'),
      }),
    )
    .describe('Objects that keep their id under another name.');
});

/** The whole file, as `gateway schema` prints it; validation reads it section by section. */
export function fileSchema(): z.ZodObject {
  return z
    .strictObject({
      version: version.optional(),
      namespace: namespace.optional(),
      server: serverSchema.optional(),
      ...collections(),
      moved: moved().optional(),
    })
    .describe('gateway.yaml');
}

interface CheckContext {
  places: Places;
  unknownFields: 'error' | 'warn';
}

/**
 * Checks every section but `server` against the schema. The tree given back is the declared one,
 * with texts from outside converted to the types that the schema wants and without unknown fields
 * that were only warned about.
 */
export function checkSections(
  tree: Record<string, unknown>,
  context: CheckContext,
): { tree: Record<string, unknown>; diagnostics: Diagnostic[] } {
  const { places } = context;
  const diagnostics: Diagnostic[] = checkNames(tree, context);
  const declared: Record<string, unknown> = {};
  const sound = new Map<string, readonly Record<string, unknown>[]>();
  const check = <T>(name: string, schema: z.ZodType<T>): T | undefined => {
    const checked = checkTree(schema, { ...context, root: tree, at: [name] });
    declared[name] = checked.declared;
    diagnostics.push(...checked.diagnostics);
    return checked.value;
  };
  if (tree['version'] === undefined && Object.keys(tree).length > 0) {
    const message = 'no version is given; 1 is assumed';
    diagnostics.push({
      ...places.find(tree, []),
      path: '',
      severity: 'warning',
      message,
      hint: 'add version: 1',
    });
  } else if (tree['version'] !== undefined) check('version', version);
  if (tree['namespace'] !== undefined) check('namespace', namespace);
  for (const kind of CONFIG_KINDS) {
    const { collection } = kind;
    if (tree[collection] === undefined) continue;
    const entries = check(collection, z.array(kind.entry));
    if (entries) sound.set(collection, entries);
  }
  if (tree['moved'] !== undefined) check('moved', moved());
  const judged = { ...context, sound };
  diagnostics.push(...checkAccounts(tree, judged), ...checkEntries(tree, judged));
  return { tree: declared, diagnostics };
}

function checkNames(tree: Record<string, unknown>, context: CheckContext): Diagnostic[] {
  const known = ['version', 'namespace', 'server', ...COLLECTIONS, 'moved'];
  return Object.keys(tree)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const hint = suggest(name, known);
      return {
        ...context.places.find(tree, [name], 'key'),
        path: formatPath([name]),
        severity: context.unknownFields === 'warn' ? ('warning' as const) : ('error' as const),
        message: `unknown section ${name}`,
        ...(hint !== undefined && { hint }),
      };
    });
}
