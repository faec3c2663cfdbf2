import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createHostLiveness, exists } from '../liveness.ts';
import type { Liveness, ProcessPlace } from '../liveness.ts';
import { createPsLiveness, UNNAMED_HOST } from './ps-liveness.ts';

/** An object that a reload changed. */
export interface ReloadChange {
  readonly action: string;
  readonly kind: string;
  readonly identity: string;
  /** Changed fields of an object that was there; at most 20. */
  readonly paths: readonly string[];
}

/** Outcome of a signal, for its sender. */
export interface SignalOutcome {
  readonly action: 'reload' | 'restart';
  /** Milliseconds since epoch at which the files were read. */
  readonly begun: number;
  /** Milliseconds since epoch, when it was over. */
  readonly at: number;
  /** Null when all of it was done. */
  readonly error: string | null;
  /** True when the files, or files and variables that they name, are at fault. */
  readonly isInvalid?: boolean | undefined;
  /** Findings in the files, each as one text. */
  readonly problems?: readonly string[] | undefined;
  readonly changes?: readonly ReloadChange[] | undefined;
  /** Number of declared objects that stay as they are, since another owner has them or they cannot change. */
  readonly left?: number | undefined;
  /** Changed settings that take effect at the next start, or restart of the workers. */
  readonly later?: readonly string[] | undefined;
}

/** Facts that a gateway writes down of itself. */
export interface RuntimeFacts {
  /** Origin at which it is reached from this machine. */
  readonly url: string;
  /** RFC 3339. */
  readonly since: string;
  readonly version: string;
  /** Absolute paths of the files that it follows; none where the environment is its configuration. */
  readonly files: readonly string[];
  /** True when it reloads by itself when these change. */
  readonly watch: boolean;
}

/** A file of facts as it is read; those of an earlier version have fewer. */
export type RuntimeRecord = { readonly url: string } & Partial<RuntimeFacts> & {
    readonly pid?: number;
    /** Machine and start of the process, since its id may be another's by now. */
    readonly place?: ProcessPlace;
    readonly last?: SignalOutcome;
  };

/**
 * `running` and `ended` are sure. `unsure`: the process may be there, in another space of processes (a
 * container) or without a known start; it must never get a signal.
 */
export type RuntimeState = 'running' | 'ended' | 'unsure';

export interface Runtime {
  readonly file: string;
  readonly record: RuntimeRecord;
  readonly state: RuntimeState;
}

const MAIN = 'runtime.json';
/** Files of further processes on one folder. */
const OTHER = /^runtime\.\d+\.json$/;

/** Liveness by `/proc`, else by `ps`. */
export const createLiveness = (): Liveness | undefined =>
  createHostLiveness() ?? createPsLiveness();

/** The gateways that a data folder knows of, the first one in front; those that ended are among them. */
export function readRuntimes(dataDir: string, liveness = createLiveness()): Runtime[] {
  return filesIn(dataDir).flatMap((name) => {
    const file = join(dataDir, name);
    const record = readRecord(file);
    return record ? [{ file, record, state: stateOf(record, liveness) }] : [];
  });
}

/** The gateway that commands in the folder mean: the first one that has not ended. */
export function findRuntime(dataDir: string): Runtime | undefined {
  return readRuntimes(dataDir).find(({ state }) => state !== 'ended');
}

/**
 * Writes the file by which the command line finds the running gateway. Where another process of the
 * folder is known to run, its file stays, and this one gets a file of its own.
 */
export async function writeRuntime(dataDir: string, facts: RuntimeFacts): Promise<void> {
  const liveness = createLiveness();
  const { pid } = process;
  const known = readRuntimes(dataDir, liveness);
  const isTaken = known.some(
    ({ file, state, record }) =>
      file === join(dataDir, MAIN) && state === 'running' && record.pid !== pid,
  );
  const record: RuntimeRecord = { ...facts, pid, ...(liveness && { place: liveness.own }) };
  const gone = known.filter(({ state }) => state === 'ended');
  await Promise.all(gone.map(({ file }) => rm(file, { force: true })));
  await writePrivate(dataDir, isTaken ? `runtime.${pid}.json` : MAIN, record);
}

/** Notes an outcome with the address, and the files that are followed by then; a file of another process stays as it is. */
export async function noteOutcome(
  dataDir: string,
  last: SignalOutcome,
  files: readonly string[],
): Promise<void> {
  const own = ownRuntime(dataDir);
  if (own) await writePrivate(dataDir, own.name, { ...own.record, files, last });
}

/** Removes the file of this process: nothing runs there any longer. */
export async function removeRuntime(dataDir: string): Promise<void> {
  const own = ownRuntime(dataDir);
  if (own) await rm(join(dataDir, own.name), { force: true });
}

/** Makes what finds the record of this process, or of the one that started it, which may be looked for once. */
export function createOwnRecord(
  liveness = createLiveness(),
): (dataDir: string) => RuntimeRecord | undefined {
  const { own, parent } = liveness ?? {};
  return (dataDir) =>
    filesIn(dataDir)
      .map((name) => readRecord(join(dataDir, name)))
      .find((record) => isOf(record, process.pid, own) || isOf(record, process.ppid, parent));
}

function ownRuntime(dataDir: string): { name: string; record: RuntimeRecord } | undefined {
  const own = createLiveness()?.own;
  for (const name of filesIn(dataDir)) {
    const record = readRecord(join(dataDir, name));
    if (record && isOf(record, process.pid, own)) return { name, record };
  }
  return undefined;
}

/** Compares host and start as well: every container has a process 1. */
function isOf(
  record: RuntimeRecord | undefined,
  pid: number,
  place: ProcessPlace | undefined,
): boolean {
  const { host, started } = record?.place ?? {};
  return record?.pid === pid && host === place?.host && started === place?.started;
}

function filesIn(dataDir: string): string[] {
  try {
    const names = readdirSync(dataDir);
    return [...names.filter((name) => name === MAIN), ...names.filter((name) => OTHER.test(name))];
  } catch {
    return [];
  }
}

/** Undefined for a file that is gone, or is none of a gateway. */
function readRecord(file: string): RuntimeRecord | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<RuntimeRecord> | null;
    return typeof value?.url === 'string' ? (value as RuntimeRecord) : undefined;
  } catch {
    return undefined;
  }
}

function stateOf({ pid, place }: RuntimeRecord, liveness: Liveness | undefined): RuntimeState {
  if (place === undefined || liveness === undefined)
    return pid !== undefined && !exists(pid) ? 'ended' : 'unsure';
  const { own } = liveness;
  if (own.host === UNNAMED_HOST || place.host === own.host)
    return liveness.isGone(place) ? 'ended' : 'running';
  return bootOf(place) === bootOf(own) ? 'unsure' : 'ended';
}

/** The machine since its start; what ran before, or on another machine, is not here. */
const bootOf = ({ host }: ProcessPlace): string => host.split(' ')[0] ?? '';

/** Whole or not at all, for those who read it meanwhile. */
async function writePrivate(dataDir: string, name: string, record: RuntimeRecord): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, name);
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
}
