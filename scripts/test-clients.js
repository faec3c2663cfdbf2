// Installs the command-line clients that people use and lets each hold a conversation through the
// gateway, offline, in a home of its own. They are no dependencies: more than a gigabyte, from four vendors.
// Installed without their scripts into node_modules/.cache/clients, once for each list of versions.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** For all of them together. */
const INSTALL_MS = 6 * 60_000;
const deadline = Date.now() + INSTALL_MS;
const cache = join(root, 'node_modules/.cache/clients');
const { dependencies } = JSON.parse(readFileSync(join(root, 'test/clients/versions.json'), 'utf8'));

mkdirSync(cache, { recursive: true });
writeFileSync(join(cache, 'package.json'), '{ "private": true }\n');
const missing = Object.entries(dependencies)
  .filter(([name, version]) => installed(name) !== version)
  .filter(([name, version]) => !install(name, version))
  .map(([name, version]) => `${name}@${version}`);
for (const one of missing) console.error(`NOT TESTED: ${one} could not be installed here`);

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    'test/clients/vitest.config.ts',
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, CLIENTS: cache } },
);
for (const one of missing) console.error(`NOT TESTED: ${one} could not be installed here`);
process.exitCode = status ?? 1;

function installed(name) {
  const file = join(cache, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** Each by itself, so that one that fails takes none of the others with it. */
function install(name, version) {
  console.log(`installing ${name}@${version} …`);
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];
  const { status: code } = spawnSync('npm', [...words, '--prefix', cache, `${name}@${version}`], {
    cwd: cache,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: Math.max(1, deadline - Date.now()),
  });
  return code === 0;
}
