import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Diagnostic } from '../source/diagnostic.ts';

/** The part of a file system that the configuration reads; injected, so that loading is pure. */
export interface ConfigFiles {
  /** Rejects when the file is missing, unreadable or larger than `maxBytes`. */
  read(path: string, maxBytes: number): Promise<Buffer>;
  /** Names in a directory; undefined when `path` is not a directory. */
  list(path: string): Promise<readonly string[] | undefined>;
  realpath(path: string): Promise<string>;
}

/** One text of configuration. */
export interface ConfigSource {
  /** Path as the user wrote it; `stdin` for `-`. */
  readonly file: string;
  /** Absolute; relative paths in the file start here. */
  readonly directory: string;
  readonly text: string;
}

export interface ReadOptions {
  /** Files, directories (their `*.yaml`, `*.yml` and `*.json`) and `-`. */
  paths: readonly string[];
  /** True: directories below directories, too. Default false. */
  recursive?: boolean;
  /** Content of `-`. */
  stdin?: string;
  cwd: string;
  files: ConfigFiles;
}

/** File of a project where none is named. */
export const DEFAULT_CONFIG = 'gateway.yaml';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 1000;
/** Folders below each other; a link that leads back ends here. */
const MAX_FOLDER_DEPTH = 32;
/** Files of any kind that are looked at below one directory. */
const MAX_WALKED = 20_000;

export const nodeConfigFiles: ConfigFiles = {
  async read(path, maxBytes) {
    const handle = await open(path, 'r');
    try {
      const buffer = Buffer.allocUnsafe(maxBytes + 1);
      let length = 0;
      while (length <= maxBytes) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
        if (bytesRead === 0) return Buffer.from(buffer.subarray(0, length));
        length += bytesRead;
      }
      throw new Error(`file is larger than ${maxBytes} bytes`);
    } finally {
      await handle.close();
    }
  },
  list: async (path) => ((await stat(path)).isDirectory() ? await readdir(path) : undefined),
  realpath,
};

/**
 * Reads every text of configuration. Files come in the order of their paths by code unit, each
 * once, so neither the order of the arguments nor the file system's decides anything
 * (requirement config.multi-file). A path that cannot be read is a diagnostic.
 */
export async function readSources(
  options: ReadOptions,
): Promise<{ sources: ConfigSource[]; diagnostics: Diagnostic[] }> {
  const { cwd, files } = options;
  const sources: ConfigSource[] = [];
  const diagnostics: Diagnostic[] = [];
  const fail = (file: string, message: string) =>
    diagnostics.push({ file, line: 1, column: 1, path: '', severity: 'error', message });

  const found = new Map<string, string>();
  for (const path of options.paths.filter((path) => path !== '-')) {
    try {
      const expanded = await expand(path, options);
      if (expanded.length === 0) throw new Error('the directory holds no *.yaml, *.yml or *.json');
      for (const file of expanded) found.set(resolve(cwd, file), file);
    } catch (error) {
      fail(path, `cannot be read: ${faultOf(error)}`);
    }
  }
  if (found.size > MAX_FILES) fail(cwd, `more than ${MAX_FILES} configuration files`);
  for (const [absolute, file] of [...found].sort(byPath).slice(0, MAX_FILES)) {
    try {
      const bytes = await files.read(absolute, MAX_FILE_BYTES);
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      sources.push({ file, directory: dirname(absolute), text });
    } catch (error) {
      fail(file, `cannot be read: ${faultOf(error)}`);
    }
  }
  if (options.paths.includes('-')) {
    if (options.stdin === undefined) fail('stdin', 'nothing was given on standard input');
    else sources.push({ file: 'stdin', directory: resolve(cwd), text: options.stdin });
  }
  return { sources, diagnostics };
}

async function expand(path: string, { cwd, files, recursive }: ReadOptions): Promise<string[]> {
  if (recursive !== true) {
    const names = await files.list(resolve(cwd, path));
    return names === undefined ? [path] : names.filter(isConfig).map((name) => join(path, name));
  }
  const found: string[] = [];
  const waiting = [{ path, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { depth } = next;
    const names = await files.list(resolve(cwd, next.path));
    if (names === undefined && (depth === 0 || isConfig(basename(next.path))))
      found.push(next.path);
    if (names === undefined) continue;
    if (depth > MAX_FOLDER_DEPTH) throw new Error(`more than ${MAX_FOLDER_DEPTH} folders deep`);
    for (const name of names) {
      if (!name.startsWith('.')) waiting.push({ path: join(next.path, name), depth: depth + 1 });
    }
    if (found.length + waiting.length > MAX_WALKED)
      throw new Error(`more than ${MAX_WALKED} files`);
  }
  return found;
}

function isConfig(name: string): boolean {
  return /^[^.].*\.(ya?ml|json)$/i.test(name);
}

/** The words of the system without the path, which the diagnostic names already. */
export function faultOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'no such file or directory';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EISDIR') return 'is a directory';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not valid UTF-8';
  return error instanceof Error ? error.message : 'unknown reason';
}

function byPath([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
