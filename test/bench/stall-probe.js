// Open-loop probes in a process of their own, so that whoever makes large inputs does not keep them waiting.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startOpenLoop } from './open-loop.js';

/**
 * `start` and `stop` bound a measurement; several may follow each other. `stop` waits for the open answers
 * and gives the figures of all probes together.
 *
 * @param {Parameters<typeof startOpenLoop>[0][]} options
 * @returns {{ start(): void, stop(): Promise<{ requests: number, failures: number, latencies: number[] }>, end(): void }}
 */
export function startProbes(options) {
  const child = fork(fileURLToPath(import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return {
    start: () => child.send(options),
    stop: () =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send('stop');
      }),
    end: () => child.disconnect(),
  };
}

let loops = [];

async function onMessage(message) {
  if (message !== 'stop') {
    loops = message.map((options) => startOpenLoop(options));
    return;
  }
  const results = await Promise.all(loops.map((loop) => loop.stop()));
  process.send({
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    failures: results.reduce((sum, { failures }) => sum + failures, 0),
    latencies: results.flatMap(({ latencies }) => latencies).sort((a, b) => a - b),
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.on('message', (message) => void onMessage(message));
