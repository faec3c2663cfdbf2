import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { onTestFinished } from 'vitest';

const PATIENCE_MS = 120_000;

export interface ForkOptions {
  /** Added to the environment of the test. */
  readonly env?: Record<string, string>;
  /** Time in ms in which the first message must come. Default: two minutes. */
  readonly withinMs?: number;
}

/** `log`: its output on stderr. */
export type Script = ChildProcess & { log(): string };

/**
 * A process of the test's own that runs a script (see `bundleScript`) until the test is over; resolves with
 * its first message. Rejects with how the process ended and what it wrote on stderr when none comes.
 */
export function forkScript(
  script: string,
  args: readonly string[],
  { env, withinMs = PATIENCE_MS }: ForkOptions = {},
): Promise<Script> {
  const child = fork(script, args, {
    execArgv: [],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve, reject) => {
    const fail = (how: string): void => {
      clearTimeout(overdue);
      reject(
        new Error(`${script} ${how} before its first message: ${said || 'nothing on stderr'}`),
      );
    };
    const overdue = setTimeout(() => {
      fail(`was not ready within ${withinMs} ms`);
      child.kill('SIGKILL');
    }, withinMs);
    child.once('error', ({ message }) => fail(`failed (${message})`));
    // Its stderr is read to the end by then.
    child.once('close', (code, signal) => fail(`ended with ${signal ?? code}`));
    child.once('message', () => {
      clearTimeout(overdue);
      resolve(Object.assign(child, { log: () => said }));
    });
  });
}
