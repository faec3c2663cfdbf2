// Brings a Node.js release from the package registry and prints where its executable lies:
// `node scripts/fetch-node.js 22.23.3`, without a version all that are tested. It is kept below the
// user's cache folder, outside of the checkout, and must have the hash below.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const HASHES = {
  '20.19.0': {
    x64: 'sha512-HzVYgEgabV/n3nP2F9mcxS0Nxgg99jynX9CMovakLmSYTuTdQRbbtw0yadY8+qKcqXfiDAtb2hmtR7nDPzclGA==',
    arm64:
      'sha512-kT7jX7frbsrMrXMsBaFt3Th1SWs5VjxTzd0U8vxcmdCFkaqeu5hFK0+QoYfIo5drmr3DmwJfLtO2gnD/7hNE/Q==',
  },
  '22.23.3': {
    x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    arm64:
      'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  },
  '24.22.3': {
    x64: 'sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==',
    arm64:
      'sha512-IZx0J52/1NDwAsY2iyWR9nlPIYuYviTWetjj8+ElvYQh2+XRhLfCfkbFEF/2O5vGI2hcUbyPNHV+nz342FbJXw==',
  },
};

/** Outside of the checkout: every clean one would download them again. */
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agent-gateway/node');

const [, , ...asked] = process.argv;
for (const version of asked.length > 0 ? asked : Object.keys(HASHES))
  console.log(fetchNode(version));

function fetchNode(version) {
  const executable = join(cache, version, 'node');
  if (existsSync(executable)) return executable;
  const wanted = HASHES[version]?.[process.arch];
  if (!wanted || process.platform !== 'linux')
    throw new Error(
      `no hash is known of Node.js ${version} for ${process.platform} ${process.arch}`,
    );
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, '.new-'));
  try {
    const name = `node-linux-${process.arch}@${version}`;
    const packed = JSON.parse(
      run('npm', ['pack', '--json', '--pack-destination', directory, name]),
    );
    const [{ filename, integrity }] = packed;
    if (integrity !== wanted) throw new Error(`${name} has the hash ${integrity}, not ${wanted}`);
    const strip = ['--strip-components=2', 'package/bin/node'];
    run('tar', ['-xzf', join(directory, filename), '-C', directory, ...strip]);
    rmSync(join(directory, filename));
    moveIn(directory, version);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return executable;
}

/** As a whole, because a fetch may be stopped half-way; of two at once the first wins. */
function moveIn(directory, version) {
  try {
    renameSync(directory, join(cache, version));
  } catch (error) {
    if (!existsSync(join(cache, version, 'node'))) throw error;
  }
}

function run(command, argv) {
  const stdio = ['ignore', 'pipe', 'inherit'];
  const { status, stdout, error } = spawnSync(command, argv, { stdio, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${argv.join(' ')} ended with ${status}`);
  return stdout;
}
