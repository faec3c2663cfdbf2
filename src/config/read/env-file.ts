import { dirname, join, relative, resolve } from 'node:path';
import type { Diagnostic } from '../source/diagnostic.ts';
import { faultOf, type ConfigFiles } from './load.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** The `.env` of a configuration. */
export interface EnvFile {
  /** Absolute, whether the file exists or not; undefined where none is read. */
  readonly path: string | undefined;
  /** Path for people: relative where it is below the working directory. */
  readonly shown: string;
  /** Variables of the file that count: the environment does not set them. */
  readonly values: Readonly<Record<string, string>>;
  /** Lines of all that the file sets and the environment does not. */
  readonly lines: ReadonlyMap<string, number>;
  readonly diagnostics: readonly Diagnostic[];
}

export interface EnvFileInput {
  /** False: none is read, the default. */
  readonly envFile?: boolean | undefined;
  /** Files of the configuration: the folder of the first one counts, a folder itself. */
  readonly paths: readonly string[];
  readonly env: Variables;
  readonly cwd: string;
  readonly files: ConfigFiles;
}

/** What the system and Node.js load, trust and connect through. */
const OF_SYSTEM: readonly RegExp[] = [
  /^(HOME|USERPROFILE|APPDATA|LOCALAPPDATA|XDG_\w+)$/,
  /^(PATH|PATHEXT|COMSPEC|SHELL|ENV|BASH_ENV|IFS|TMPDIR|TEMP|TMP)$/,
  /^(LD|DYLD)_\w+$/,
  /^NODE_(?!ENV$)\w+$/,
  /^(SSL_CERT|OPENSSL)_\w+$/,
  /^(HTTP|HTTPS|ALL|NO)_PROXY$/i,
];

/**
 * Variables that count only in the environment, since the author of a project's files must not choose
 * them: those of the system, the address and the key of the command, the files that it reads, and the
 * programs that secrets may run.
 */
const NEVER: readonly RegExp[] = [
  ...OF_SYSTEM,
  /^GATEWAY_(SERVER|CONTEXT|API_KEY|API_KEY_FILE|CONFIG|OVERLAY|NO_ENV_FILE|ALLOW_EXEC)$/,
];

const NAME = '.env';
const MAX_BYTES = 1024 * 1024;
const NONE = { values: {}, lines: new Map<string, number>(), diagnostics: [] };

/**
 * Reads the `.env` next to the configuration. The environment wins; a variable that is empty there
 * counts as unset, as for flags and settings. A file that cannot be read, holds more than 1 MiB or has
 * a line that sets no variable is an error at that line.
 */
export async function readEnvFile(input: EnvFileInput): Promise<EnvFile> {
  if (input.envFile !== true) return { ...NONE, path: undefined, shown: NAME };
  const { env, cwd, files } = input;
  const path = join(await folderOf(input), NAME);
  const below = relative(cwd, path);
  const place = { path, shown: below.startsWith('..') ? path : below };
  const fault = (line: number, message: string): Diagnostic => {
    const hint = 'correct it, or leave the file out with --no-env-file';
    return { file: place.shown, line, column: 1, path: '', severity: 'error', message, hint };
  };
  let text: string;
  try {
    const bytes = await files.read(path, MAX_BYTES);
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const isAbsent = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    const diagnostics = isAbsent ? [] : [fault(1, `cannot be read: ${faultOf(error)}`)];
    return { ...NONE, ...place, diagnostics };
  }
  const { entries, faults } = parseEnvFile(text);
  const unset = entries.filter(({ name }) => (env[name] ?? '') === '');
  const counted = unset.filter(({ name }) => mayCome(name));
  return {
    ...place,
    values: Object.fromEntries(counted.map(({ name, value }) => [name, value])),
    lines: new Map(unset.map(({ name, line }) => [name, line])),
    diagnostics: faults.map(({ line, message }) => fault(line, message)),
  };
}

/** True for what the system and Node.js load, trust and connect through. */
export function isOfSystem(name: string): boolean {
  return OF_SYSTEM.some((pattern) => pattern.test(name));
}

/** False for a variable that a `.env` never sets. */
function mayCome(name: string): boolean {
  return !NEVER.some((pattern) => pattern.test(name));
}

/** Warns of variables in the file that were meant for the gateway and have no effect. */
export function unusedInEnvFile(
  { lines, shown }: EnvFile,
  used: ReadonlySet<string>,
): Diagnostic[] {
  const unused = [...lines].filter(([name]) =>
    used.has(name) ? !mayCome(name) : name.startsWith('GATEWAY_'),
  );
  return unused.map(([name, line]) => ({
    file: shown,
    line,
    column: 1,
    path: '',
    severity: 'warning',
    message: mayCome(name)
      ? `${name} has no effect in ${NAME}: it is no setting of the server and in no reference`
      : `${name} is never taken from ${NAME}`,
    hint: 'set it in the environment',
  }));
}

/** Variables that a configuration takes from its `.env`. */
export interface EnvFileUse {
  /** Absolute; undefined where no file is read. */
  readonly path: string | undefined;
  readonly shown: string;
  readonly values: Readonly<Record<string, string>>;
}

/** The variables of the file that are among `used`. */
export function useOf({ path, shown, values }: EnvFile, used: ReadonlySet<string>): EnvFileUse {
  const taken = Object.entries(values).filter(([name]) => used.has(name));
  return { path, shown, values: Object.fromEntries(taken) };
}

/** The line that names these variables, never their values; undefined where there are none. */
export function describeEnvFile({ shown, values }: EnvFileUse): string | undefined {
  const names = Object.keys(values);
  return names.length === 0 ? undefined : `from ${shown}: ${names.join(', ')}`;
}

/** Folder of the file that is named first. */
async function folderOf({ paths, cwd, files }: EnvFileInput): Promise<string> {
  const [first = '-'] = paths;
  if (first === '-') return resolve(cwd);
  const path = resolve(cwd, first);
  const isFolder = (await files.list(path).catch(() => undefined)) !== undefined;
  return isFolder ? path : dirname(path);
}

interface Entry {
  readonly name: string;
  readonly value: string;
  /** From 1. */
  readonly line: number;
}

/** One variable; quoted values may have several lines, and a comment needs no blank before it. */
const ENTRY =
  /[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)[^\S\n]*=[^\S\n]*(?:(?:'([^']*)'|"([^"]*)"|`([^`]*)`)[^\S\n]*(?:#[^\n]*)?|([^\n#'"`][^\n#]*)?(?:#[^\n]*)?)(?:\n|$)/y;
const BLANK = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;
const REST = /[^\n]*(?:\n|$)/y;
const MOST_FAULTS = 10;

/**
 * Parses the text as Node.js does with --env-file, with lines for what it would leave out or cut: `\n`
 * in double quotes is a line break, nothing else is replaced, and of several values the last counts.
 */
export function parseEnvFile(given: string): {
  entries: readonly Entry[];
  faults: readonly { line: number; message: string }[];
} {
  const text = given.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const entries = new Map<string, Entry>();
  const faults: { line: number; message: string }[] = [];
  let line = 1;
  for (let at = 0; at < text.length && faults.length < MOST_FAULTS;) {
    const match = matchAt(BLANK, text, at) ?? matchAt(ENTRY, text, at) ?? matchAt(REST, text, at);
    const [read = '', name, single, double, backquoted, plain = ''] = match ?? [];
    if (name !== undefined) {
      const value = single ?? double?.replaceAll('\\n', '\n') ?? backquoted ?? plain.trim();
      entries.set(name, { name, value, line });
    } else if (read.trim() !== '' && !read.trimStart().startsWith('#')) {
      faults.push({ line, message: faultIn(read) });
    }
    at += read.length;
    line += read.split('\n').length - 1;
  }
  return { entries: [...entries.values()], faults };
}

/** The words never quote the line, which may hold a secret. */
function faultIn(line: string): string {
  const [, quote] = /^[^\S\n]*(?:export[^\S\n]+)?[\w.-]+[^\S\n]*=[^\S\n]*(['"`])/.exec(line) ?? [];
  if (quote === undefined) return 'expected NAME=value';
  return line.split(quote).length > 2
    ? `nothing may follow the closing ${quote}; a value with ${quote} in it needs other quotes`
    : `the quote ${quote} is not closed`;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
