// Builds src/ into dist/: lib/ holds what runs, in few files, so that a command starts fast; types/ holds
// the declarations, one for each source. With --if-stale only when a source is newer than the last build.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.built');

/** Files of lib/ that somebody reaches by path. */
const ENTRIES = {
  index: 'src/index.ts',
  plugin: 'src/plugin.ts',
  main: 'src/cli/main.ts',
  'print-version': 'src/cli/print-version.ts',
  'worker-channel': 'src/server/worker-channel.ts',
  'reaper-process': 'src/runtime/reaper/reaper-process.ts',
  'verify-process': 'src/store/raw/verify-process.ts',
};

/**
 * Files of lib/ beside those that the bundler finds: sources that are loaded together, with what they
 * import. A source that several name goes to the first.
 */
const GROUPS = [
  ['commands', /src\/cli\/(all-commands|command|global-flags|style)\.ts$/],
  [
    'core',
    /src\/(cli\/cli-error|client\/client-error|core\/(duration|errors|json-value|printable))\.ts$/,
  ],
  [
    'command-line',
    /src\/cli\/(context|failure|flags|list-resources|output|parse-argv|settings|signals)\.ts$/,
  ],
  ['connection', /src\/cli\/(connection|contexts|pick-target)\.ts$/],
  ['client', /src\/client\/create-client\.ts$/],
  ['config', /src\/config\/load-config\.ts$/],
];

function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const inputs = ['src', 'scripts/build.js', 'tsconfig.build.json', 'package.json'].map((name) =>
  newest(join(root, name)),
);
if (process.argv.includes('--if-stale') && newest(stamp) > Math.max(...inputs)) process.exit(0);

process.stderr.write('building agent-gateway …\n');
rmSync(join(root, 'dist'), { recursive: true, force: true });
const done = await Promise.all([declare(), bundle()]);
if (done.includes(false)) process.exit(1);
writeFileSync(stamp, '');

async function declare() {
  const { resolve } = createRequire(import.meta.url);
  const tsc = join(resolve('typescript/package.json'), '..', 'bin', 'tsc');
  const child = spawn(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], {
    stdio: ['ignore', 2, 2],
  });
  const [status] = await once(child, 'exit');
  return status === 0;
}

/** One build of all entries: what two of them use is one file, loaded once. Packages stay outside. */
async function bundle() {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: root,
    input: ENTRIES,
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
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
    chunkFileNames: '[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: false,
    codeSplitting: {
      groups: GROUPS.map(([name, test], index) => ({
        name,
        test,
        priority: GROUPS.length - index,
      })),
    },
  });
  await build.close();
  return true;
}
