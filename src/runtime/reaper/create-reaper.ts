import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../core/log.ts';
import type { MarkedGroup } from './marked-group.ts';

/** Ends the groups that it watches when this process dies, however it dies (design: harness). */
export interface Reaper {
  /**
   * Watches a group, or learns the leader of one; call it before the process is started. Resolves when
   * the reaper has it. Rejects when no reaper can be started.
   */
  watch(group: MarkedGroup): Promise<void>;
  /** Nothing of the group is left. */
  forget(marker: string): void;
  /** Ends the reaper, which kills the groups that it still watches. Idempotent. */
  close(): Promise<void>;
}

export interface ReaperOptions {
  readonly log: Log;
  /** Arguments of the runtime before the script. Default those of this process, and what a source needs. */
  readonly execArgv?: readonly string[];
}

// The same folder holds the built script, or its source while developing.
const EXTENSION = extname(import.meta.url);
const SCRIPT = fileURLToPath(new URL(`./reaper-process${EXTENSION}`, import.meta.url));
const LOADER = EXTENSION === '.ts' ? ['--import', 'tsx'] : [];

/** One child process, started with the first group and again if it dies. */
export function createReaper({
  log,
  execArgv = [...process.execArgv, ...LOADER],
}: ReaperOptions): Reaper {
  const groups = new Map<string, MarkedGroup>();
  let current: ReaperProcess | undefined;
  let isClosed = false;

  const start = (): ReaperProcess => {
    const started = new ReaperProcess(execArgv, () => {
      if (current !== started) return;
      current = undefined;
      if (!isClosed) log.warn('the reaper of processes ended');
      if (!isClosed && groups.size > 0) tellAll().catch(() => undefined);
    });
    return started;
  };
  const tellAll = async (): Promise<void> => {
    current ??= start();
    await current.tell([...groups.values()].map((watch) => ({ watch })));
  };

  return {
    async watch(group) {
      if (isClosed) throw new Error('the reaper is closed');
      groups.set(group.marker, group);
      if (!current) return tellAll();
      await current.tell([{ watch: group }]);
    },
    forget(marker) {
      groups.delete(marker);
      current?.tell([{ forget: marker }]).catch(() => undefined);
    },
    async close() {
      isClosed = true;
      await current?.close();
    },
  };
}

type Order = { readonly watch: MarkedGroup } | { readonly forget: string };

class ReaperProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  /** Groups that the process has yet to say it has. */
  readonly #waiting: (() => void)[] = [];

  constructor(execArgv: readonly string[], onEnd: () => void) {
    // A session of its own keeps it alive when the gateway's terminal or group is ended.
    const child = spawn(process.execPath, [...execArgv, SCRIPT], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    void this.#ended.then(onEnd);
    // A reaper never keeps this process alive.
    child.unref();
    (child.stdin as Socket).unref();
    (child.stdout as Socket).unref();
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (dots: Buffer) => {
      for (const done of this.#waiting.splice(0, dots.length)) done();
    });
  }

  /** Resolves when all of them are known there. */
  async tell(orders: readonly Order[]): Promise<void> {
    const known = orders
      .filter((order) => 'watch' in order)
      .map(() => new Promise<void>((resolve) => this.#waiting.push(resolve)));
    const lines = orders.map((order) => `${JSON.stringify(order)}\n`).join('');
    this.#child.stdin?.write(lines);
    const failed = this.#ended.then(() => {
      throw new Error('the reaper of processes cannot be started');
    });
    await Promise.race([Promise.all(known), failed]);
    failed.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }
}
