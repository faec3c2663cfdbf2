import { dirname, join, resolve } from 'node:path';
import { sleep } from '../../client/http/sleep.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import { readRuntimes } from '../../core/process/runtime-file.ts';
import type { Runtime } from '../../core/process/runtime-file.ts';
import { CliError } from '../cli-error.ts';
import type { FlagInput } from '../command-input.ts';
import type { CommandContext } from '../context.ts';
import { findGatewayDirectory } from '../connection/connection.ts';
import { nearestFile } from '../connection/declared-gateway.ts';
import { shownPath } from '../output/shown-path.ts';
import { statSeen } from '../output/stat-seen.ts';
import { readsEnvFile } from '../project/project.ts';
import type { CONFIG } from '../tables/shared-words.ts';

/** Input of a command on the gateway of a data folder. */
export type OwnInput = FlagInput<readonly [typeof CONFIG]>;

/** The data folder that a command means, and the gateways that it knows of. */
export interface OwnFolder {
  readonly dataDir: string;
  /** Without those that have ended; the first one is meant. */
  readonly live: readonly Runtime[];
  /** Files of gateways that ended without a word. */
  readonly stale: readonly Runtime[];
}

/**
 * The data folder of the named files, where some are named; else that of the nearest gateway.yaml or the
 * nearest `.gateway`, upwards, whichever has a gateway that runs.
 */
export async function findOwnFolder({ flags, context }: OwnInput): Promise<OwnFolder> {
  const folders = await foldersOf(flags.config, context);
  const found = folders.map(look);
  const [first] = found;
  if (first === undefined) throw nowhere(context);
  return (
    found.find(({ live }) => live.length > 0) ??
    found.find(({ stale }) => stale.length > 0) ??
    first
  );
}

async function foldersOf(
  given: readonly string[],
  context: CommandContext,
): Promise<readonly string[]> {
  const { cwd } = context.io;
  const missing = given.find((path) => statSeen(resolve(cwd, path)) === undefined);
  // Without its file the folder would be a guess, and another gateway might be stopped.
  if (missing !== undefined)
    throw new CliError({
      code: 'no_configuration',
      message: `${missing} does not exist`,
      exit: 'invalid_config',
    });
  const nearest = given.length === 0 ? nearestFile(cwd) : undefined;
  const paths = nearest === undefined ? given : [nearest];
  const declared = paths.length === 0 ? undefined : await declaredFolder(paths, context);
  if (given.length > 0) return declared === undefined ? [] : [declared];
  const above = findGatewayDirectory({ cwd });
  return [...new Set([declared, above].filter((folder) => folder !== undefined))];
}

/** Where the server section is wrong, the folder that a start makes next to the file. */
async function declaredFolder(
  paths: readonly string[],
  context: CommandContext,
): Promise<string | undefined> {
  const { cwd, env } = context.io;
  const envFile = readsEnvFile(context.globals);
  const { dataDir } = await loadConfig({ paths, cwd, env, envFile });
  const [first] = paths;
  return dataDir ?? (first && join(dirname(resolve(cwd, first)), '.gateway'));
}

function look(dataDir: string): OwnFolder {
  const all = readRuntimes(dataDir);
  return {
    dataDir,
    live: all.filter(({ state }) => state !== 'ended'),
    stale: all.filter(({ state }) => state === 'ended'),
  };
}

/** The gateway that may be signalled: its process is sure. Throws `not_running` and `unsure_process` (exit 1). */
export async function requireOwn(
  input: OwnInput,
): Promise<{ folder: OwnFolder; runtime: Runtime; pid: number }> {
  const folder = await findOwnFolder(input);
  const [runtime] = folder.live;
  if (runtime === undefined) throw notRunning(folder, input.context);
  const { pid } = runtime.record;
  if (runtime.state === 'running' && pid !== undefined) return { folder, runtime, pid };
  throw new CliError({
    code: 'unsure_process',
    message: `${shownPath(runtime.file, input.context.io.cwd)} names process ${pid ?? '?'}, of which it is not sure that it is the gateway: it runs in a container, or an earlier version started it`,
    hint: 'nothing was signalled; send the signal where it was started (SIGHUP reloads, SIGTERM stops)',
  });
}

/** Sends a signal to a process that {@link requireOwn} gave. Throws `not_permitted` (exit 1). */
export function signalOwn(pid: number, signal: 'SIGHUP' | 'SIGTERM'): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') throw cause;
    throw new CliError({
      code: 'not_permitted',
      message: `process ${pid} belongs to another user`,
      hint: 'run this as that user, or let the service manager do it',
      cause,
    });
  }
}

const LOOK_MS = 50;

/** Looks until there is an answer, or until --timeout is over: then undefined. */
export async function lookUntil<T>(
  { clock, signal, timeoutMs }: CommandContext,
  answer: () => T | undefined,
): Promise<T | undefined> {
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const found = answer();
    if (found !== undefined || clock.monotonic() > deadline) return found;
    await sleep(clock, LOOK_MS, signal);
  }
}

/** The error where no gateway runs, with the file of a former one. */
export function notRunning({ dataDir, stale }: OwnFolder, context: CommandContext): CliError {
  const [left] = stale;
  const about =
    left === undefined
      ? ''
      : `; ${shownPath(left.file, context.io.cwd)} is left of process ${left.record.pid}, which has ended without removing it`;
  return new CliError({
    code: 'not_running',
    message: `no gateway runs in ${shownPath(dataDir, context.io.cwd)}${about}`,
    hint: 'start one with `gateway start`; for one that runs elsewhere: `gateway whoami --server URL`',
  });
}

function nowhere({ io }: CommandContext): CliError {
  return new CliError({
    code: 'not_running',
    message: `no gateway runs in ${io.cwd}: there is neither a gateway.yaml nor a .gateway, here or above`,
    hint: 'go to the folder of its gateway.yaml, or name the file with --config',
  });
}
