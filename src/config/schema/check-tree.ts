import type { z } from 'zod';
import { suggest } from '../../core/suggest.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { formatPath, type Path, type Places, valueAt } from '../source/locate.ts';
import { ObjectRef, SecretRef } from '../objects/references.ts';
import { removeUnknownFields, type UnknownField } from '../source/unknown-fields.ts';

export interface CheckOptions {
  /** The tree that `places` knows, and the path of the checked part in it. */
  root: unknown;
  at: Path;
  places: Places;
  unknownFields: 'error' | 'warn';
}

export interface Checked<T> {
  /** Value as the schema gives it, with references put back; undefined when it has errors. */
  value: T | undefined;
  /**
   * Value as it was written: no defaults, no unknown fields, texts from outside in the schema's
   * types.
   */
  declared: unknown;
  diagnostics: Diagnostic[];
}

type Issue = z.core.$ZodIssue;

const PLACEHOLDER = 'reference';
/** A schema is used once or twice here: to generate code for it costs more than it saves. */
const ONCE = { jitless: true } as const;
const BOOLEAN_WORDS: Readonly<Record<string, boolean>> = {
  yes: true,
  on: true,
  y: true,
  no: false,
  off: false,
  n: false,
};

/**
 * Checks one part of the configuration against its schema and puts every problem at its line and
 * column. A reference counts as a valid value until it is resolved. A text that came from `${env:}`
 * or `${file:}` becomes a number or boolean where the schema, and only the schema, wants one.
 */
export function checkTree<T>(schema: z.ZodType<T>, options: CheckOptions): Checked<T> {
  const part = valueAt(options.root, options.at);
  const references = new Map<string, { path: Path; value: SecretRef | ObjectRef }>();
  const plain = withoutReferences(part, [], references);
  const diagnostics = removeUnknownFields(schema, plain).map((field) => toUnknown(field, options));
  const refused = diagnostics.some(({ severity }) => severity === 'error');
  let result = schema.safeParse(plain, ONCE);
  if (!result.success && convertTexts(plain, result.error.issues, options)) {
    result = schema.safeParse(plain, ONCE);
  }
  const declared = restore(structuredClone(plain), references);
  if (result.success) {
    const value = refused ? undefined : restore(result.data, references);
    return { value, declared, diagnostics };
  }
  const issues = result.error.issues.flatMap((issue) => flatten(issue));
  for (const issue of issues) {
    const reference = references.get(pathKey(issue.path))?.value;
    if (reference === undefined) diagnostics.push(toDiagnostic(issue, options));
    // The form of a referenced value is judged when it is resolved; its type is known now.
    else if (issue.code === 'invalid_type' || issue.code === 'invalid_value') {
      diagnostics.push(
        toDiagnostic({ ...issue, message: `${reference.toString()} is not allowed here` }, options),
      );
    }
  }
  return { value: undefined, declared, diagnostics };
}

function withoutReferences(
  value: unknown,
  path: Path,
  references: Map<string, { path: Path; value: SecretRef | ObjectRef }>,
): unknown {
  if (value instanceof SecretRef || value instanceof ObjectRef) {
    references.set(pathKey(path), { path, value });
    return PLACEHOLDER;
  }
  if (Array.isArray(value)) {
    return value.map((member, index) => withoutReferences(member, [...path, index], references));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      withoutReferences(member, [...path, key], references),
    ]),
  );
}

function restore<T>(
  value: T,
  references: ReadonlyMap<string, { path: Path; value: SecretRef | ObjectRef }>,
): T {
  let restored: unknown = value;
  for (const { path, value: reference } of references.values()) {
    if (path.length === 0) restored = reference;
    const container = valueAt(restored, path.slice(0, -1)) as Record<PropertyKey, unknown>;
    if (path.length > 0 && container !== undefined) container[path.at(-1)!] = reference;
  }
  return restored as T;
}

function convertTexts(plain: unknown, issues: readonly Issue[], options: CheckOptions): boolean {
  let converted = false;
  for (const issue of issues.flatMap((issue) => flatten(issue))) {
    if (issue.code !== 'invalid_type' || issue.path.length === 0) continue;
    if (!options.places.isInterpolated(options.root, [...options.at, ...issue.path])) continue;
    const container = valueAt(plain, issue.path.slice(0, -1)) as Record<PropertyKey, unknown>;
    const value = toExpected(String(valueAt(plain, issue.path)), issue.expected);
    if (value === undefined) continue;
    container[issue.path.at(-1)!] = value;
    converted = true;
  }
  return converted;
}

function toExpected(text: string, expected: string): number | boolean | undefined {
  if (expected === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  const isNumber = /^(number|int)$/.test(expected) && /^-?\d+(\.\d+)?$/.test(text);
  return isNumber ? Number(text) : undefined;
}

/** Faults of the branch of a union that got furthest. */
function flatten(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const depth = (issues: readonly Issue[]) => Math.max(...issues.map(({ path }) => path.length));
  const branches = issue.errors.filter((branch) => branch.length > 0);
  const deepest = Math.max(...branches.map(depth));
  const best = branches.filter((branch) => depth(branch) === deepest);
  if (deepest === 0 && best.length > 1) return [joined(issue, best.flat())];
  return (best[0] ?? []).flatMap((inner) =>
    flatten({ ...inner, path: [...issue.path, ...inner.path] }),
  );
}

/** Several simple types are allowed and none fits: one message that names them all. */
function joined(issue: Issue, alternatives: readonly Issue[]): Issue {
  const messages = new Set(
    alternatives.map(({ message }) =>
      message.replace(/^Invalid input: /, '').replace(/, received .*$/, ''),
    ),
  );
  const message = `Invalid input: ${[...messages].join(', or ')}`;
  return { ...alternatives[0], path: issue.path, message } as Issue;
}

function toUnknown({ path, name, known }: UnknownField, options: CheckOptions): Diagnostic {
  const full = [...options.at, ...path, name];
  const hint = suggest(name, [...new Set(known)]);
  return {
    ...options.places.find(options.root, full, 'key'),
    path: formatPath(full),
    severity: options.unknownFields === 'warn' ? 'warning' : 'error',
    message: `unknown field ${name}`,
    ...(hint !== undefined && { hint }),
  };
}

function toDiagnostic(issue: Issue, options: CheckOptions): Diagnostic {
  const { root, at, places } = options;
  const path = [...at, ...issue.path];
  const value = valueAt(root, path);
  const hint = trapHint(issue, value, places.isInterpolated(root, path));
  return {
    ...places.find(root, path),
    path: formatPath(path),
    severity: 'error',
    message: sentence(issue, value),
    ...(hint !== undefined && { hint }),
  };
}

function sentence(issue: Issue, value: unknown): string {
  if (issue.code === 'invalid_type' && value === undefined) return 'is required';
  const text = issue.message.replace(/^Invalid (input|option): /, '');
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function trapHint(issue: Issue, value: unknown, interpolated: boolean): string | undefined {
  if (issue.code !== 'invalid_type' || interpolated) return undefined;
  if (issue.expected === 'string' && ['number', 'boolean'].includes(typeof value)) {
    return `write it in quotes: "${String(value)}"`;
  }
  if (typeof value !== 'string') return undefined;
  const meant = issue.expected === 'boolean' ? BOOLEAN_WORDS[value.toLowerCase()] : undefined;
  if (meant !== undefined) return `YAML 1.2 reads ${value} as a text; write ${meant}`;
  const exact = toExpected(value, issue.expected);
  return exact === undefined ? undefined : `write ${exact} without quotes`;
}

function pathKey(path: Path): string {
  return path.map(String).join('\u0000');
}
