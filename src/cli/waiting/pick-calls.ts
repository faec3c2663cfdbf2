import type { Waiting, WaitingCall } from '../../sessions/waiting.ts';
import { CliError, usageError } from '../cli-error.ts';
import { callText, waitingFailure, wantsPermission } from './waiting-words.ts';

export interface Wanted {
  /** Id of the Session. */
  readonly session: string;
  readonly waiting: Waiting | null | undefined;
  /** Names or ids of calls; none: the only one. */
  readonly named: readonly string[];
  readonly all?: boolean | undefined;
  /** False: the calls that wait for a result. */
  readonly asksPermission: boolean;
}

/**
 * Calls that an answer is for.
 *
 * @throws CliError `session_not_waiting` (exit 5) where none waits for such an answer, `ambiguous` (exit 5)
 *   with all of them where several do and none is named, `not_found` for a name that none has
 */
export function pickCalls(wanted: Wanted): readonly WaitingCall[] {
  const { named, all = false } = wanted;
  if (all && named.length > 0) throw usageError('--all and the name of a call cannot be combined');
  const calls = suitable(wanted);
  if (named.length > 0) return named.flatMap((name) => pick(name, calls));
  if (all || calls.length === 1) return calls;
  throw new CliError({
    code: 'ambiguous',
    exit: 'conflict',
    message: [`${calls.length} calls wait`, ...calls.map(toLine)].join('\n'),
    hint: wanted.asksPermission ? 'name one of them, or all with --all' : 'name one with --call',
  });
}

function suitable({ session, waiting, asksPermission }: Wanted): readonly WaitingCall[] {
  const calls = waiting?.calls.filter((call) => wantsPermission(call) === asksPermission) ?? [];
  if (calls.length > 0) return calls;
  const failure = waiting ? waitingFailure(session, waiting) : undefined;
  const what = asksPermission ? 'permission' : 'result';
  throw new CliError({
    code: 'session_not_waiting',
    exit: 'conflict',
    message: failure
      ? `no call waits for a ${what}: ${failure.message}`
      : `the session waits for nothing`,
    hint: failure?.hint ?? '`gateway sessions list --waiting` lists those that wait',
  });
}

function pick(name: string, calls: readonly WaitingCall[]): readonly WaitingCall[] {
  const found = calls.filter((call) => call.id === name || call.name === name);
  if (found.length === 1) return found;
  throw new CliError({
    code: found.length === 0 ? 'not_found' : 'ambiguous',
    exit: found.length === 0 ? 'failed' : 'conflict',
    message: [
      found.length === 0
        ? `no call ${name} waits; these do:`
        : `${found.length} calls ${name} wait`,
      ...calls.map(toLine),
    ].join('\n'),
    hint: 'name one by its id',
  });
}

const toLine = (call: WaitingCall): string => `${call.id}  ${callText(call)}`;
