import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const SCRIPT = fileURLToPath(new URL('writer.ts', import.meta.url));

export interface WriterProcess {
  /** Numbers whose commit the process was told of, in the order of the telling. */
  readonly acknowledged: readonly number[];
  /** Resolves when at least `count` commits are acknowledged; rejects when the process ends first. */
  reached(count: number): Promise<void>;
  /** SIGKILL; resolves when the process is gone and its output read to the end. */
  kill(): Promise<void>;
}

export function spawnWriter(driver: string, path: string, writer: string): WriterProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, driver, path, writer], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const acknowledged: number[] = [];
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const waiting = new Set<() => void>();
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    if (line !== 'ready') acknowledged.push(Number(line));
    for (const check of waiting) check();
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    acknowledged,
    reached: (count) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (acknowledged.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
        void closed.then(() => reject(new Error(`the writer ended: ${errors}`)));
      }),
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
