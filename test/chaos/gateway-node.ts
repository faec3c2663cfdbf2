import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { BINARY } from '../support/gateway.ts';
import { endWithDriver } from './end-with-driver.ts';
import { findWorkers, waitUntilGone } from './worker-processes.ts';

const LOOK_MS = 50;
const START_MS = 90_000;
/** Before one that could not start, since its store was away, is tried again. */
const AGAIN_MS = 300;

export interface NodeOptions {
  readonly name: string;
  readonly port: number;
  readonly config: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where it writes its log. */
  readonly log: string;
  /** 1: the process itself serves. */
  readonly workers: number;
}

/** A time in which a gateway was not itself, on the clock of the machine. */
export interface Trouble {
  readonly kind: 'killed' | 'paused' | 'cut' | 'full';
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
}

/** A gateway of its own process that is killed, paused and started again at the same address. */
export class GatewayNode {
  readonly name: string;
  readonly url: string;
  readonly troubles: Trouble[] = [];
  /** Ends that nobody asked for. */
  readonly crashes: string[] = [];
  readonly #options: NodeOptions;
  #child: ChildProcess | undefined;
  #isWanted = false;
  readonly #orphans: Promise<string[]>[] = [];

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.url = `http://127.0.0.1:${options.port}`;
  }

  get hasWorkers(): boolean {
    return this.#options.workers > 1;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Resolves when it answers; one that cannot start is started again, as a supervisor would. */
  async start(): Promise<void> {
    this.#isWanted = true;
    for (const deadline = Date.now() + START_MS; Date.now() < deadline; await sleep(AGAIN_MS)) {
      const child = this.#spawn();
      while (isAlive(child)) {
        if (await this.#answers()) {
          child.once('exit', (code, signal) => this.#onExit(child, `${code ?? signal}`));
          return;
        }
        await sleep(LOOK_MS);
      }
    }
    throw new Error(`${this.name} does not start; see ${this.#options.log}`);
  }

  /** SIGKILL; resolves when it is gone. Its workers drain, which `findOrphans` waits for. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#isWanted = false;
    if (!child || !isAlive(child)) return;
    const workers = await this.#workers();
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    this.#orphans.push(this.#watchOrphans(workers));
  }

  /** SIGKILL for one of the workers; resolves when there are as many as before, and one answers. False: there is none. */
  async killWorker(lot: number): Promise<boolean> {
    const workers = await this.#workers();
    const hit = workers[Math.floor(lot * workers.length)];
    if (hit === undefined) return false;
    process.kill(hit, 'SIGKILL');
    for (const end = Date.now() + START_MS; Date.now() < end; await sleep(LOOK_MS)) {
      const now = await this.#workers();
      const isWhole = !now.includes(hit) && now.length >= this.#options.workers;
      // It may have been the only one that listened yet.
      if (isWhole && (await this.#answers())) return true;
    }
    this.crashes.push(`${this.name} did not replace a worker`);
    return true;
  }

  /** Waits for workers of first processes that were killed; gives those that stayed. */
  async findOrphans(): Promise<string[]> {
    return (await Promise.all(this.#orphans)).flat();
  }

  /** SIGTERM; gives the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    this.#isWanted = false;
    if (!child || !isAlive(child)) return null;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
    return child.exitCode;
  }

  /** SIGSTOP for all of its processes; call what comes back to let them go on at once. */
  async pause(): Promise<() => void> {
    const stopped: number[] = [];
    const stop = (pid: number): void => {
      if (signal(pid, 'SIGSTOP')) stopped.push(pid);
    };
    // The first one first: then no worker comes meanwhile.
    stop(this.pid);
    for (const pid of await this.#workers()) stop(pid);
    return () => {
      for (const pid of stopped) signal(pid, 'SIGCONT');
    };
  }

  /** Tells those who judge what it did meanwhile; call what comes back when it is over. */
  beginTrouble(kind: Trouble['kind']): () => void {
    const trouble = { kind, from: Date.now(), to: Infinity };
    this.troubles.push(trouble);
    return () => {
      trouble.to = Date.now();
    };
  }

  /** For how long it was stopped within this time. */
  pausedMs(from: number, to: number): number {
    return this.troubles
      .filter(({ kind }) => kind === 'paused')
      .reduce((sum, one) => sum + Math.max(0, Math.min(one.to, to) - Math.max(one.from, from)), 0);
  }

  wasTroubled(from: number, to: number, kinds?: readonly Trouble['kind'][]): boolean {
    return this.troubles.some(
      (trouble) =>
        trouble.from <= to && trouble.to >= from && (!kinds || kinds.includes(trouble.kind)),
    );
  }

  #spawn(): ChildProcess {
    const { config, directory, env, log, workers } = this.#options;
    const file = openSync(log, 'a');
    const argv = [BINARY, 'start', '-c', config, '--workers', String(workers)];
    const child = spawn(process.execPath, argv, {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...env },
      stdio: ['ignore', file, file],
    });
    closeSync(file);
    endWithDriver(child);
    this.#child = child;
    return child;
  }

  async #workers(): Promise<number[]> {
    return this.hasWorkers && this.pid !== 0 ? findWorkers(this.pid) : [];
  }

  async #watchOrphans(workers: readonly number[]): Promise<string[]> {
    const left = await waitUntilGone(workers);
    return left.map((pid) => `${this.name} left its worker ${pid} behind`);
  }

  #onExit(child: ChildProcess, how: string): void {
    if (child !== this.#child || !this.#isWanted) return;
    this.crashes.push(`${this.name} ended by itself: ${how}`);
    const end = this.beginTrouble('killed');
    this.start().then(end, (error: unknown) => this.crashes.push(String(error)));
  }

  /** On a connection of its own: an earlier one may lead to a worker that only drains. */
  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const options = { agent: false, timeout: 2_000 };
      const asked = get(`${this.url}/healthz`, options, (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      });
      asked.on('timeout', () => asked.destroy());
      asked.on('error', () => resolve(false));
    });
  }
}

/** False: it is gone. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

const isAlive = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;
