import { relative, resolve as resolvePath, sep } from 'node:path';
import { printable } from '../../core/printable.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { formatPath, type Path, type Places } from '../source/locate.ts';
import type { ParsedDocument } from '../source/parse-yaml.ts';
import { kindNamed } from '../objects/kinds.ts';
import {
  notSet,
  ObjectRef,
  type ReferenceSources,
  SECRET_SOURCES,
  SecretRef,
  type SecretSource,
} from '../objects/references.ts';
import { splitWords } from '../objects/secret-commands.ts';

const EXPRESSION = /\$\$\{|\$\{([^{}]*)\}|\$\{/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SECRET = new RegExp(`^(${Object.keys(SECRET_SOURCES).join('|')}):(.+)$`);
const SECRETS = Object.entries(SECRET_SOURCES).map(([name, what]) => `\${secret:${name}:${what}}`);
const MAX_INCLUDED_BYTES = 1024 * 1024;

interface Resolution {
  readonly document: ParsedDocument;
  readonly places: Places;
  readonly sources: ReferenceSources;
  readonly diagnostics: Diagnostic[];
  /** Absolute paths of the files that references name. */
  readonly included: Set<string>;
  /** Variables that references name. */
  readonly variables: Set<string>;
}

export interface ResolvedDocument {
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute paths of the files that references name, those of secrets among them. */
  readonly included: ReadonlySet<string>;
  /** Variables that references name, those of secrets among them. */
  readonly variables: ReadonlySet<string>;
}

/**
 * Replaces `${env:X}`, `${env:X:-default}`, `${file:path}`, `${path:path}`,
 * `${ref:kind.name.field}` and `${secret:…}` in the scalar values of a parsed document, in place;
 * `$${` becomes `${`. Inserted text is not parsed again, as YAML or for further `${…}`. Reports every
 * unresolvable reference, so that it lists all unset variables.
 */
export async function resolveDocument(
  document: ParsedDocument,
  options: { places: Places; sources: ReferenceSources },
): Promise<ResolvedDocument> {
  const resolution: Resolution = {
    ...options,
    document,
    diagnostics: [],
    included: new Set(),
    variables: new Set(),
  };
  const value = await resolveValue(document.value, [], resolution);
  const { diagnostics, included, variables } = resolution;
  return { value, diagnostics, included, variables };
}

async function resolveValue(value: unknown, path: Path, resolution: Resolution): Promise<unknown> {
  if (typeof value === 'string') return resolveText(value, path, resolution);
  if (typeof value !== 'object' || value === null) return value;
  const container = value as Record<string, unknown>;
  for (const [key, member] of Object.entries(container)) {
    if (isPlain(member)) continue;
    const step = Array.isArray(value) ? Number(key) : key;
    const resolved = await resolveValue(member, [...path, step], resolution);
    if (resolved !== member) resolution.places.markInterpolated(container, step);
    container[key] = resolved;
  }
  return container;
}

/** True for most values: nothing to replace, and no reason to wait a turn for each. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('${');
  return typeof value !== 'object' || value === null;
}

async function resolveText(text: string, path: Path, resolution: Resolution): Promise<unknown> {
  if (isPlain(text)) return text;
  const parts: (string | SecretRef | ObjectRef)[] = [];
  let end = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    parts.push(await resolveMatch(match, path, resolution));
  }
  parts.push(text.slice(end));
  const used = parts.filter((part) => part !== '');
  const whole = used.find((part) => typeof part !== 'string');
  if (whole === undefined) return used.join('');
  if (used.length > 1) {
    report(resolution, path, { message: `${whole.toString()} must be the whole value` });
  }
  return whole;
}

async function resolveMatch(
  match: RegExpMatchArray,
  path: Path,
  resolution: Resolution,
): Promise<string | SecretRef | ObjectRef> {
  if (match[0] === '$${') return '${';
  const expression = match[1];
  const unknown = () => {
    const hint = `use \${env:NAME}, \${file:PATH}, \${path:PATH}, \${ref:KIND.NAME.FIELD}, ${SECRETS.join(', ')}; $\${ is a plain \${`;
    report(resolution, path, { message: `unknown reference ${match[0]}`, hint });
    return '';
  };
  if (expression === undefined) return unknown();
  const colon = expression.indexOf(':');
  const argument = expression.slice(colon + 1);
  switch (expression.slice(0, Math.max(colon, 0))) {
    case 'env':
      return resolveVariable(argument, path, resolution) ?? unknown();
    case 'file':
      return resolveFile(argument, path, resolution);
    case 'path':
      return (await locateFile(argument, path, resolution))?.lexical ?? '';
    case 'ref': {
      const parts = /^([a-z_]+)\.(.+)\.([a-z_]+)$/.exec(argument);
      if (parts === null) return unknown();
      const [, kind = '', name = '', field = ''] = parts;
      return new ObjectRef(kindNamed(kind) ?? kind, name, field);
    }
    case 'secret':
      return toSecret(argument, path, resolution) ?? unknown();
    default:
      return unknown();
  }
}

/** Undefined when the expression is malformed. */
function toSecret(argument: string, path: Path, resolution: Resolution): SecretRef | undefined {
  const [, source, name = ''] = SECRET.exec(argument) ?? [];
  const { directory } = resolution.document.source;
  if (source === undefined || (source === 'env' && !VARIABLE.test(name))) return undefined;
  if (source === 'file') resolution.included.add(resolvePath(directory, name));
  if (source === 'env') resolution.variables.add(name);
  if (source === 'exec') checkCommand(name, path, resolution);
  return new SecretRef(source as SecretSource, name, directory);
}

function checkCommand(command: string, path: Path, resolution: Resolution): void {
  const { fault, shell } = splitWords(command);
  if (fault !== undefined)
    report(resolution, path, { message: `\${secret:exec:${printable(command)}}: ${fault}` });
  if (shell === undefined) return;
  const message = `no shell runs this command, so ${shell} is a plain character`;
  const hint =
    'write it in quotes if that is meant; what needs a shell belongs in a program of its own';
  report(resolution, path, { severity: 'warning', message, hint });
}

/** Undefined when the expression is malformed. As in a shell, `:-` also replaces an empty value. */
function resolveVariable(argument: string, path: Path, resolution: Resolution): string | undefined {
  const split = argument.indexOf(':-');
  const name = split < 0 ? argument : argument.slice(0, split);
  if (!VARIABLE.test(name)) return undefined;
  resolution.variables.add(name);
  const value = resolution.sources.env[name];
  if (split >= 0) return value === undefined || value === '' ? argument.slice(split + 2) : value;
  if (value !== undefined) return value;
  const hint = `set it, or give a default: \${env:${name}:-value}`;
  report(resolution, path, { message: notSet(name, resolution.sources), hint });
  return '';
}

/** The text of a file in or below the directory of the configuration file, without its last line break. */
async function resolveFile(name: string, path: Path, resolution: Resolution): Promise<string> {
  const { files } = resolution.sources;
  const { directory } = resolution.document.source;
  const lexical = resolvePath(directory, name);
  if (isBelow(directory, lexical)) resolution.included.add(lexical);
  const found = await locateFile(name, path, resolution);
  if (found === undefined) return '';
  try {
    const bytes = await files.read(found.target, MAX_INCLUDED_BYTES);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    report(resolution, path, { message: `the file ${name} cannot be read` });
    return '';
  }
}

/**
 * Path of a file in or below the directory of the configuration file; reports one that is
 * elsewhere.
 */
async function locateFile(
  name: string,
  path: Path,
  resolution: Resolution,
): Promise<{ lexical: string; target: string } | undefined> {
  const { files } = resolution.sources;
  const { directory } = resolution.document.source;
  const lexical = resolvePath(directory, name);
  try {
    const base = await files.realpath(directory);
    const target = isBelow(directory, lexical) ? await files.realpath(lexical) : undefined;
    if (target !== undefined && isBelow(base, target)) return { lexical, target };
    const message = `the file ${name} lies outside of the configuration directory`;
    const hint = 'move it below the directory of the configuration file';
    report(resolution, path, { message, hint });
  } catch {
    report(resolution, path, { message: `the file ${name} cannot be read` });
  }
  return undefined;
}

function isBelow(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return (
    way !== '' &&
    way !== '..' &&
    !way.startsWith(`..${sep}`) &&
    resolvePath(directory, way) === path
  );
}

/** Members of a diagnostic that only its check knows. */
type Problem = Pick<Diagnostic, 'message' | 'hint'> & Partial<Pick<Diagnostic, 'severity'>>;

function report(resolution: Resolution, path: Path, problem: Problem): void {
  const { document, places, diagnostics } = resolution;
  const place = places.find(document.value, path);
  diagnostics.push({ ...place, path: formatPath(path), severity: 'error', ...problem });
}
