import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { BINARY } from '../support/gateway.ts';
import { endWithDriver } from './end-with-driver.ts';

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

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.url = `http://127.0.0.1:${options.port}`;
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

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#isWanted = false;
    if (!child || !isAlive(child)) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
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

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name);
  }

  /** Tells those who judge what it did meanwhile; call what comes back when it is over. */
  beginTrouble(kind: Trouble['kind']): () => void {
    const trouble = { kind, from: Date.now(), to: Infinity };
    this.troubles.push(trouble);
    return () => {
      trouble.to = Date.now();
    };
  }

  wasTroubled(from: number, to: number, kinds?: readonly Trouble['kind'][]): boolean {
    return this.troubles.some(
      (trouble) =>
        trouble.from <= to && trouble.to >= from && (!kinds || kinds.includes(trouble.kind)),
    );
  }

  #spawn(): ChildProcess {
    const { config, directory, env, log } = this.#options;
    const file = openSync(log, 'a');
    const child = spawn(process.execPath, [BINARY, 'start', '-c', config], {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...env },
      stdio: ['ignore', file, file],
    });
    closeSync(file);
    endWithDriver(child);
    this.#child = child;
    return child;
  }

  #onExit(child: ChildProcess, how: string): void {
    if (child !== this.#child || !this.#isWanted) return;
    this.crashes.push(`${this.name} ended by itself: ${how}`);
    const end = this.beginTrouble('killed');
    this.start().then(end, (error: unknown) => this.crashes.push(String(error)));
  }

  async #answers(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.url}/healthz`, { signal: AbortSignal.timeout(2_000) });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  }
}

const isAlive = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;
