import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { BINARY, newDirectory, writeConfig } from '../support/gateway.ts';
import { inTurn } from '../runs.ts';

const CHANNEL = pathToFileURL(join(BINARY, '../../dist/lib/worker-channel.js')).href;

/** A first process that forks a worker as the gateway does, and is killed after so many milliseconds. */
async function killedAfter(ms: number): Promise<string> {
  const directory = await newDirectory();
  // A worker that comes as far as asking for its settings waits there.
  await writeConfig(directory, {}, true);
  const script = join(directory, 'first.mjs');
  await writeFile(
    script,
    `import cluster from 'node:cluster';
     import { prepareForks } from ${JSON.stringify(CHANNEL)};
     prepareForks();
     cluster.setupPrimary({ exec: ${JSON.stringify(BINARY)}, args: ['start'] });
     cluster.fork();
     const die = () => process.kill(process.pid, 'SIGKILL');
     ${ms === 0 ? 'die();' : `setTimeout(die, ${ms});`}`,
  );
  const first = spawn(process.execPath, [script], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let told = '';
  for (const stream of [first.stdout, first.stderr])
    stream.on('data', (bytes: Buffer) => (told += bytes.toString()));
  // Both streams stay open till the worker has ended, too.
  await once(first, 'close');
  await rm(directory, { recursive: true, force: true });
  return told;
}

describe.concurrent('a worker whose first process dies', () => {
  it.each(inTurn('deaths of a first process', [0, 40, 200, 600, 1_500]))(
    verifies('ops.workers.parent-died', 'while it is forked says so in one sentence: %i ms'),
    async (ms) => {
      expect(await killedAfter(ms)).toBe(
        'gateway: the first process ended before this worker could start\n',
      );
    },
  );
});
