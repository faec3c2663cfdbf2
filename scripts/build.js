// Compiles src/ to dist/. With --if-stale only when a source is newer than the last build.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.built');

function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const inputs = ['src', 'tsconfig.build.json', 'package.json'].map((name) =>
  newest(join(root, name)),
);
if (process.argv.includes('--if-stale') && newest(stamp) > Math.max(...inputs)) process.exit(0);

process.stderr.write('building agent-gateway …\n');
rmSync(join(root, 'dist'), { recursive: true, force: true });
const tsc = join(
  createRequire(import.meta.url).resolve('typescript/package.json'),
  '..',
  'bin',
  'tsc',
);
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], {
  stdio: ['ignore', 2, 2],
});
if (status !== 0) process.exit(1);
writeFileSync(stamp, '');
