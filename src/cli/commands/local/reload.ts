import { titleOf } from '../../../config/objects/kinds.ts';
import { readRuntimes } from '../../../core/process/runtime-file.ts';
import type { Runtime, SignalOutcome } from '../../../core/process/runtime-file.ts';
import { counted } from '../../../core/counted.ts';
import { oneLine } from '../../../core/printable.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandResult, Failure } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { lookUntil, requireOwn, signalOwn } from '../../local/own-gateway.ts';
import { shownPath } from '../../output/shown-path.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'reload'> = async (input) => {
  const { context } = input;
  const { folder, pid } = await requireOwn(input);
  const sentAt = context.clock.now();
  signalOwn(pid, 'SIGHUP');
  const seen = await lookUntil(context, () => {
    const now = readRuntimes(folder.dataDir).find(({ record }) => record.pid === pid);
    return outcomeOf(now, sentAt);
  });
  if (seen === 'ended') throw ended(pid);
  if (seen === undefined) throw late(pid, context.timeoutMs);
  const { record, last } = seen;
  if (last.error === null) for (const problem of last.problems ?? []) context.output.warn(problem);
  const files = (record.files ?? []).map((file) => shownPath(file, context.io.cwd));
  return toResult(last, { pid, files: files.length > 0 ? files : ['the environment'] });
};

interface Outcome {
  readonly record: Runtime['record'];
  readonly last: SignalOutcome;
}

/** Undefined as long as the files are not read again since then. */
function outcomeOf(now: Runtime | undefined, sentAt: number): Outcome | 'ended' | undefined {
  if (now === undefined || now.state === 'ended') return 'ended';
  const { record } = now;
  const { last } = record;
  // One that began before may have read the files as they were before.
  return last?.action === 'reload' && last.begun >= sentAt ? { record, last } : undefined;
}

function toResult(
  outcome: SignalOutcome,
  { pid, files }: { pid: number; files: readonly string[] },
): CommandResult {
  const { error, problems = [], changes = [], left = 0, later = [] } = outcome;
  const failure = failureOf(outcome, files);
  const count = (...actions: string[]) =>
    changes.filter(({ action }) => actions.includes(action)).length;
  const [created, updated] = [count('create'), count('update', 'replace')];
  const removed = changes.length - created - updated;
  const sum =
    changes.length === 0
      ? 'no changes'
      : `${created} created, ${updated} updated, ${removed} removed`;
  const lines = [
    ...changes.map(renderChange),
    ...(error === null ? [`reloaded ${files.join(', ')}: ${sum}`] : []),
    ...later.map((setting) => `not yet: ${setting} changed, which takes effect at the next start`),
  ];
  return {
    data: { pid, files, error, problems, changes, left, later },
    text: lines.join('\n'),
    ...(failure && { failure }),
  };
}

const SIGNS: Readonly<Record<string, string>> = { create: '+', update: '~', replace: '±' };

function renderChange({
  action,
  kind,
  identity,
  paths,
}: NonNullable<SignalOutcome['changes']>[number]) {
  const fields = paths.length === 0 ? '' : `  (${paths.join(', ')})`;
  return oneLine(`${SIGNS[action] ?? '-'} ${action} ${titleOf({ kind, identity })}${fields}`);
}

function failureOf(
  { error, isInvalid, problems = [], left = 0 }: SignalOutcome,
  files: readonly string[],
): Failure | undefined {
  const named = files.join(', ');
  if (error !== null) {
    const exit = isInvalid ? EXIT.invalid_config : EXIT.failed;
    return {
      code: isInvalid ? 'invalid_config' : 'not_reloaded',
      message: `${named} is refused: ${error}; the former configuration serves on`,
      hint: 'mend it and run `gateway reload` again; `gateway validate` checks it without a reload',
      details: problems.join('\n'),
      exitCode: exit.code,
    };
  }
  if (left === 0) return undefined;
  return {
    code: 'left_unchanged',
    message: `${counted(left, 'object')} of ${named} stay as they are, for the reasons above; everything else is served`,
    hint: 'declare each object in one place only, or give it to the file with `gateway transfer`',
    exitCode: EXIT.conflict.code,
  };
}

function ended(pid: number): CliError {
  return new CliError({
    code: 'not_running',
    message: `process ${pid} ended before it had read its files again`,
    hint: 'its log says why; `gateway start` starts it',
  });
}

function late(pid: number, ms: number): CliError {
  return new CliError({
    code: 'timeout',
    message: `process ${pid} has not read its files again within ${ms / 1000} s`,
    hint: '`gateway status` shows the outcome once it is there',
    exit: 'unknown_outcome',
  });
}
