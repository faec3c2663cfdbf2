import { onTestFinished, vi } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { eventually } from '../../support/gateway.ts';

interface Place {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** False: nobody reads along, as under a supervisor. Default true. */
  readonly tty?: boolean;
}

export interface StartedHere {
  readonly url: string;
  /** The client key that it printed. */
  readonly key: string | undefined;
  /** What it wrote on stderr. */
  log(): string;
  /** Stops it as SIGTERM does; gives its exit code. Idempotent. */
  stop(): Promise<number>;
}

/** What this process writes on stderr until `end`. */
function overhear(): { said(): string; end(): void } {
  let said = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  return { said: () => said, end: () => write.mockRestore() };
}

/** Runs a command line to its end, as the binary would, but in this process; `said` is its stderr. */
export async function runHere(
  argv: readonly string[],
  { cwd, env = {} }: Place,
): Promise<{ code: number; said: string }> {
  const stderr = overhear();
  try {
    const { code, stderr: written } = await runCli([...argv], { cwd, env });
    return { code, said: stderr.said() + written };
  } finally {
    stderr.end();
  }
}

/** `gateway start` in this process until the test is over, one at a time. */
export async function startHere(
  argv: readonly string[],
  { cwd, env = {}, tty = true }: Place,
): Promise<StartedHere> {
  const stderr = overhear();
  const others = process.listeners('SIGTERM');
  let ended: number | undefined;
  // A stop need not wait for connections that nobody is about to use.
  const whole = { GATEWAY_DRAIN_IDLE: '50ms', ...env };
  const running = runCli([...argv], { cwd, env: whole, tty }).then(({ code }) => (ended = code));
  const stop = async (): Promise<number> => {
    // Only those of this start: what else listens in this process is not to end.
    for (const listener of process.listeners('SIGTERM').filter((one) => !others.includes(one))) {
      process.off('SIGTERM', listener);
      process.off('SIGINT', listener);
      listener('SIGTERM');
    }
    const code = await running;
    stderr.end();
    return code;
  };
  onTestFinished(async () => void (await stop()));
  const [, url = ''] = await eventually(() => {
    if (ended !== undefined) throw new Error(`ended with ${ended}: ${stderr.said()}`);
    return /gateway listening on (\S+)\n/.exec(stderr.said()) ?? undefined;
  });
  // The words of the welcome come in one piece.
  const key = /client key {2}(sk-\S+)/.exec(stderr.said())?.[1];
  return { url, key, log: stderr.said, stop };
}
