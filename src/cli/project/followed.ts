import { titleOf } from '../../config/objects/kinds.ts';
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import { obstaclesOf } from '../../config/plan/obstacles.ts';
import type { Plan, PlanOptions } from '../../config/plan/plan.ts';
import { counted } from '../../core/counted.ts';
import { findRuntime } from '../../core/process/runtime-file.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { shownPath } from '../output/shown-path.ts';

/** Files that a gateway reads at its start and at every reload. */
export interface Followed {
  /** Absolute paths on its machine. */
  readonly files: readonly string[];
  /** The same as a person here reads them. */
  readonly named: string;
  /** True when these are the files of the command, so that a reload applies them. */
  readonly isSame: boolean;
  /** True when it reads them again by itself when they change. */
  readonly watch: boolean;
  /** True when its process is one of this machine that `gateway reload` finds. */
  readonly isHere: boolean;
}

/** Asks a gateway which files it follows; undefined for none, and where it does not say. */
export async function readFollowed(
  client: Client,
  { files, server }: Pick<GatewayConfig, 'files' | 'server'>,
  { io, signal }: Pick<CommandContext, 'io' | 'signal'>,
): Promise<Followed | undefined> {
  const follows = await client.operators.status(signal).then(
    (status) => status.follows,
    (thrown: unknown) => {
      // The command itself meets every other trouble, and reports it.
      if (thrown instanceof ClientError && thrown.code !== 'aborted') return undefined;
      throw thrown;
    },
  );
  if (!follows) return undefined;
  const own = files.map((file) => realPath(resolve(io.cwd, file)));
  const theirs = follows.files.map(realPath);
  const here = findRuntime(server.dataDir)?.record.files?.map(realPath);
  const isSame = isSameSet(own, theirs);
  const named = follows.files.map((file) => (isSame ? shownPath(file, io.cwd) : file)).join(', ');
  return { ...follows, named, isSame, isHere: isSameSet(here ?? [], theirs) };
}

/** Names the way by which a gateway takes in the changes of the files that it follows. */
function followNote({ summary }: Plan, followed: Followed): string {
  const { named, watch, isHere } = followed;
  if (summary.total === 0) return `this gateway follows ${named}`;
  if (watch) return `this gateway follows ${named} and reads every change of it by itself`;
  const where = isHere ? '' : ' on its machine';
  return `this gateway follows ${named}: \`gateway reload\`${where} makes ${counted(summary.total, 'change')} (started with --watch, or by \`gateway dev\`, it does so by itself)`;
}

/** A rendered plan with {@link followNote} below it, where the gateway follows these files. */
export function withFollowNote(text: string, plan: Plan, followed: Followed | undefined): string {
  return followed?.isSame ? `${text}\n${followNote(plan, followed)}` : text;
}

/** Refuses to apply files that the gateway follows, since both would own the objects. */
export function followsItself(plan: Plan, followed: Followed): CliError {
  const where = followed.isHere ? '' : ' on the machine of the gateway';
  return new CliError({
    code: 'followed_file',
    message: `nothing was applied: this gateway follows ${followed.named} by itself, and its reload makes ${counted(plan.summary.total, 'change')}`,
    hint: `run \`gateway reload\`${where}`,
    exit: 'conflict',
  });
}

/** Objects of followed files that a reload leaves as they are, each with the reason. */
export function leftByReload(plan: Plan, { desired }: Pick<PlanOptions, 'desired'>): string[] {
  return obstaclesOf(plan, desired).map(
    ({ object, message, hint }) =>
      `${titleOf(object)} ${message}; a reload leaves it unchanged (${hint})`,
  );
}

/** Refuses objects that others own, a line for each. */
export function ownedElsewhere(
  conflicts: Plan['conflicts'],
  followed: Pick<Followed, 'named'> | undefined,
): CliError {
  const ownerOf = (owner: string): string => {
    if (!owner.startsWith(FILE_OWNER)) return owner;
    return `the file that the gateway follows${followed ? `, ${followed.named}` : ''}`;
  };
  const isByFile = conflicts.some(({ owner }) => owner.startsWith(FILE_OWNER));
  const isByOthers = conflicts.some(({ owner }) => !owner.startsWith(FILE_OWNER));
  const hints = [
    ...(isByFile ? ['change them in the file of the gateway and run `gateway reload` there'] : []),
    ...(isByOthers
      ? ['declare each object in one place only, or give it to this one with `gateway transfer`']
      : []),
  ];
  const lines = conflicts.map((one) => [titleOf(one), ownerOf(one.owner)]);
  return new CliError({
    code: 'owned_elsewhere',
    message: `${counted(conflicts.length, 'object is', 'objects are')} declared here and managed elsewhere:\n${aligned(lines)}`,
    hint: hints.join('; '),
    exit: 'conflict',
  });
}

const FILE_OWNER = 'file:';

/** Names with their owners, in two columns. */
function aligned(lines: readonly string[][]): string {
  const width = Math.max(...lines.map(([name = '']) => name.length));
  return lines.map(([name = '', owner]) => `${name.padEnd(width)}  by ${owner}`).join('\n');
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const all = new Set(one);
  return all.size > 0 && all.size === new Set(other).size && other.every((path) => all.has(path));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
