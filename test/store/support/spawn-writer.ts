import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { bundleScript } from '../../support/process/bundle-script.ts';

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
  const acknowledged: number[] = [];
  let errors = '';
  const waiting = new Set<() => void>();
  let isOver = false;
  const start = async (): Promise<ChildProcess | undefined> => {
    const script = await bundleScript(SCRIPT);
    if (isOver) return undefined;
    const child = spawn(process.execPath, [script, driver, path, writer], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      if (line !== 'ready') acknowledged.push(Number(line));
      for (const check of waiting) check();
    });
    return child;
  };
  const started = start();
  const kill = async (): Promise<void> => {
    isOver = true;
    (await started)?.kill('SIGKILL');
  };
  onTestFinished(kill);
  const end = async (): Promise<void> => {
    const child = await started;
    if (child) await once(child, 'close');
  };
  const closed = end();
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
        void closed.then(() => reject(new Error(`the writer ended: ${errors}`)), reject);
      }),
    async kill() {
      await kill();
      await closed;
    },
  };
}
