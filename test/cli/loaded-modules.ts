import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BINARY = join(ROOT, 'bin/gateway.js');

/** Writes down the address of every module that is loaded. */
const RECORDER = `
import { register } from 'node:module';
const hooks = \`
import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + '\\\\n');
  return next(url, context);
}\`;
register('data:text/javascript,' + encodeURIComponent(hooks));
`;

export interface LoadOptions {
  /** Default a new, empty folder. */
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/** Files that a command line of the build loads. */
export interface Loaded {
  /** Built files below `dist/lib`. */
  readonly files: readonly string[];
  /** Sources that these files were made of, by their place below `src`. */
  readonly own: readonly string[];
  /** Files of other packages. */
  readonly packages: readonly string[];
}

export async function loadedBy(
  argv: readonly string[],
  { cwd, env = {} }: LoadOptions = {},
): Promise<Loaded> {
  const list = join(await emptyDirectory(), 'loaded');
  await execa(process.execPath, [BINARY, ...argv], {
    cwd: cwd ?? (await emptyDirectory()),
    env: { PATH: process.env['PATH'] ?? '', ...env, ...recordLoads(list, env['NODE_OPTIONS']) },
    extendEnv: false,
    stdin: 'ignore',
  });
  return readLoaded(list);
}

/** Variables with which a process writes down in the file `list` what it loads, beside other options of Node.js. */
export function recordLoads(list: string, options = ''): Record<string, string> {
  const recorder = `data:text/javascript,${encodeURIComponent(RECORDER)}`;
  return { LOADED: list, NODE_OPTIONS: `--import=${recorder} ${options}`.trimEnd() };
}

/** Everything that was written down so far. */
export async function readLoaded(list: string): Promise<Loaded> {
  const urls = (await readFile(list, 'utf8')).trimEnd().split('\n');
  const paths = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  const lib = join(ROOT, 'dist/lib/');
  const files = paths.filter((path) => path.startsWith(lib));
  const sources = await Promise.all(files.map(sourcesOf));
  return {
    files: files.map((file) => file.slice(lib.length)),
    own: sources.flat(),
    packages: paths.filter((path) => path.includes('/node_modules/')),
  };
}

/** Sources that a built file holds, as its source map lists them. */
async function sourcesOf(file: string): Promise<string[]> {
  const map = await readFile(`${file}.map`, 'utf8').catch(() => undefined);
  // Files that only pass on what others hold have none.
  const { sources }: { sources: string[] } = map === undefined ? { sources: [] } : JSON.parse(map);
  return sources.map((source) => source.replace(/^.*\/src\//, ''));
}
