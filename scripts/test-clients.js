// Lets the command-line clients that people use hold a conversation through the gateway, each offline, in
// a home of its own. They are no dependencies: more than a gigabyte, from four vendors. Installed without
// their scripts below the user's cache folder, once for each list of versions. With --install only that.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The newest release that they ask for; those that are no programs of their own run on it. */
const NODE = '24.22.3';
/** For all of them together. */
const INSTALL_MS = 6 * 60_000;
const deadline = Date.now() + INSTALL_MS;
const list = readFileSync(join(root, 'test/clients/versions.json'), 'utf8');
const { dependencies } = JSON.parse(list);
/** Outside of the checkout: every clean one would download them anew. */
const cache = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'agent-gateway/clients',
  createHash('sha256').update(list).digest('hex').slice(0, 12),
);

mkdirSync(cache, { recursive: true });
writeFileSync(join(cache, 'package.json'), '{ "private": true }\n');
const missing = Object.entries(dependencies)
  .filter(([name, version]) => installed(name) !== version)
  .filter(([name, version]) => !install(name, version))
  .map(([name, version]) => `${name}@${version}`);
sayMissing();

if (!process.argv.includes('--install')) {
  const node = fetchNode();
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--config', 'test/clients/vitest.config.ts'],
    { cwd: root, stdio: 'inherit', env: { ...process.env, CLIENTS: cache, CLIENTS_NODE: node } },
  );
  sayMissing();
  process.exitCode = status ?? 1;
}

function sayMissing() {
  for (const one of missing) console.error(`NOT TESTED: ${one} could not be installed here`);
}

/** Folder of its executable. */
function fetchNode() {
  const script = join(root, 'scripts/fetch-node.js');
  const { status, stdout } = spawnSync(process.execPath, [script, NODE], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status === 0) return dirname(stdout.trim());
  console.error(
    `NOT TESTED: Node.js ${NODE} could not be fetched; the tools run on ${process.version}`,
  );
  return dirname(process.execPath);
}

function installed(name) {
  const file = join(cache, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** Each by itself: a failed one leaves the others installed. */
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
