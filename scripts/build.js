// Builds src/ into dist/: lib/ holds what runs, in few files, so that a command starts fast; types/ holds
// the declarations that the public entries reach; console/ what a browser loads. With --if-stale only when
// a source is newer than the last build.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildConsole } from './build-console.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.built');

/** Files of lib/ that are reached by path, and their sources: a room of src/, and a name in it at any depth. */
const ENTRIES = {
  index: 'index',
  plugin: 'plugin',
  main: 'cli/main',
  'print-help': 'cli/print-help',
  'print-version': 'cli/print-version',
  'worker-channel': 'server/worker-channel',
  'reaper-process': 'runtime/reaper-process',
  'verify-process': 'store/verify-process',
};

/**
 * Files of lib/ beside those that the bundler finds: sources that are loaded together, with what they
 * import. A source that several reach goes to the first.
 */
const GROUPS = {
  light: ['cli/package-version', 'cli/plugins-folder', 'cli/style'],
  commands: ['cli/all-commands', 'cli/command', 'cli/global-flags', 'cli/load-flags'],
  core: [
    'cli/cli-error',
    'client/client-error',
    'core/duration',
    'core/errors',
    'core/json/value',
    'core/kinds',
    'core/printable',
  ],
  'command-line': [
    'cli/context',
    'cli/failure',
    'cli/flags',
    'cli/list-resources',
    'cli/not-found',
    'cli/output',
    'cli/parse-argv',
    'cli/references',
    'cli/settings',
    'cli/signals',
  ],
  connection: ['cli/connection', 'cli/contexts', 'cli/locate-gateway', 'cli/pick-target'],
  client: ['client/create-client', 'client/node-transport'],
  config: [
    'cli/project/project',
    'config/load-config',
    'config/plan/selection',
    'usage/prices/live-prices',
  ],
};

/** Loads whatever serves; the other commands never do. */
const START = 'server/run-start';
/** Sources for a smaller file go into one that is mostly loaded together with them. */
const SMALL_BYTES = 5_000;

/** Another declaration, as one names it. */
const IMPORTED = /(?:from|import\()\s*['"](\.[^'"]+)['"]/g;

function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const inputs = [
  'src',
  'scripts/build.js',
  'scripts/build-console.js',
  'tsconfig.build.json',
  'package.json',
].map((name) => newest(join(root, name)));
if (process.argv.includes('--if-stale') && newest(stamp) > Math.max(...inputs)) process.exit(0);

process.stderr.write('building agent-gateway …\n');
rmSync(join(root, 'dist'), { recursive: true, force: true });
const done = await Promise.all([declare(), bundle(), buildConsole()]);
if (done.includes(false)) process.exit(1);
writeFileSync(stamp, '');

async function declare() {
  const { resolve } = createRequire(import.meta.url);
  const tsc = join(resolve('typescript/package.json'), '..', 'bin', 'tsc');
  // `npm run typecheck` is the judge; here it would take three times as long.
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--noCheck'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 2, 2] });
  const [status] = await once(child, 'exit');
  if (status === 0) leaveReached(join(root, 'dist', 'types'));
  return status === 0;
}

/** Removes the declarations that nobody gets at who imports the package. */
function leaveReached(types) {
  const reached = new Set(['index', 'plugin'].map((name) => join(types, `${name}.d.ts`)));
  for (const path of reached)
    for (const [, imported] of readFileSync(path, 'utf8').matchAll(IMPORTED))
      reached.add(join(dirname(path), imported.replace(/\.[jt]s$/, '.d.ts')));
  for (const entry of readdirSync(types, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(path)) rmSync(path);
  }
}

/** Path of the one source in a room that ends with a name, so that sources may move within their room. */
function sourceOf(name) {
  const [room, ...end] = name.split('/');
  const found =
    end.length === 0
      ? [join('src', `${room}.ts`)]
      : readdirSync(join(root, 'src', room), { recursive: true })
          .map((path) => join('src', room, path))
          .filter((path) => path.endsWith(join('/', `${end.join('/')}.ts`)));
  if (found.length !== 1)
    throw new Error(
      `the build looks for one ${end.join('/')}.ts in src/${room}, not ${found.length}`,
    );
  return found[0];
}

/**
 * A plugin of the bundler that finds the sources which every start loads: its own, and those of other
 * commands, too. Parts that wait for their first use share some of them, for which the bundler would make
 * a hundred files.
 */
function findStart() {
  const [own, shared] = [new Set(), new Set()];
  const start = join(root, sourceOf(START));
  function buildEnd() {
    const importsOf = (id) => this.getModuleInfo(id)?.importedIds ?? [];
    const allOf = (id) => [...importsOf(id), ...this.getModuleInfo(id).dynamicallyImportedIds];
    const others = reach(
      Object.values(ENTRIES).map((name) => join(root, sourceOf(name))),
      (id) => allOf(id).filter((one) => one !== start),
    );
    for (const id of reach([start], importsOf)) (others.has(id) ? shared : own).add(id);
  }
  return { own, shared, plugin: { name: 'start', buildEnd } };
}

/** Sources from some on. */
function reach(begun, nextOf) {
  const reached = new Set(begun);
  for (const id of reached)
    if (id.startsWith(root)) for (const next of nextOf(id)) reached.add(next);
  return reached;
}

/** One build of all entries: what two of them use is one file, loaded once. Packages stay outside. */
async function bundle() {
  const { rolldown } = await import('rolldown');
  const start = findStart();
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(
      Object.entries(ENTRIES).map(([name, source]) => [name, sourceOf(source)]),
    ),
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
    plugins: [start.plugin],
    onLog(level, { code, message }) {
      // One module may want at once what another can wait for.
      if (code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(`${level}: ${message}`);
    },
  });
  // In one folder, two below the package: sources that ask for a file of the package count on it.
  await build.write({
    dir: 'dist/lib',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => `${name.replace(/~.*/, '')}.js`,
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: false,
    codeSplitting: {
      groups: [
        ...Object.entries(GROUPS).map(([name, sources]) => {
          const paths = new Set(sources.map((source) => join(root, sourceOf(source))));
          return { name, test: (id) => paths.has(id) };
        }),
        {
          name: 'common',
          test: (id) => start.shared.has(id),
          entriesAware: true,
          entriesAwareMergeThreshold: SMALL_BYTES,
        },
        { name: 'gateway', test: (id) => start.own.has(id) },
      ].map((group, index, all) => ({ ...group, priority: all.length - index })),
    },
  });
  await build.close();
  await writeHelp();
  return true;
}

/** Keeps what `gateway help` says on a terminal with colors, so that it is not made at every call. */
async function writeHelp() {
  const { main } = await import(pathToFileURL(join(root, 'dist', 'lib', 'main.js')).href);
  const parts = [];
  const stdout = { isTTY: true, write: (text) => parts.push(text) };
  if ((await main({ argv: ['help'], env: {}, stdout })) !== 0) throw new Error('help failed');
  writeFileSync(join(root, 'dist', 'help.txt'), parts.join(''));
}
