import { stringifyWithRaw } from '../../core/json/raw.ts';
import { oneLine } from '../../core/printable.ts';
import { toShellArguments } from '../../core/shell-word.ts';
import type { Waiting, WaitingCall } from '../../sessions/waiting.ts';
import type { Failure } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

/** Characters of arguments that are shown. */
const MAX_INPUT = 300;

/** True for a call that may not run yet; false: the client runs it and gives its result. */
export function wantsPermission({ answered_by: by }: WaitingCall): boolean {
  return by === 'user.tool_confirmation';
}

/** `lookup {"order":"A-17"}` on one line. */
export function callText({ name, server, input }: WaitingCall): string {
  const from = server === null ? '' : ` of ${server}`;
  const text = input === undefined ? '' : ` ${stringifyWithRaw(input)}`;
  const shown = text.length > MAX_INPUT ? `${text.slice(0, MAX_INPUT)}…` : text;
  return oneLine(`${name}${from}${shown}`);
}

/** Failure of a command that depends on the turn of a waiting Session: what waits, and what to type. */
export function waitingFailure(session: string, { message, since, calls }: Waiting): Failure {
  const shown = calls.map((call) =>
    calls.length === 1 ? callText(call) : `${call.id}  ${callText(call)}`,
  );
  return {
    code: 'session_waiting',
    message: [`${message}, since ${toSeconds(since)}`, ...shown].join('\n'),
    hint: nextSteps(session, calls),
    exitCode: EXIT.run_failed.code,
  };
}

/** The same as lines for people, where it is no failure. */
export function waitingLines(session: string, waiting: Waiting): string {
  const { message, hint } = waitingFailure(session, waiting);
  return `${message.replaceAll('\n', '\n  ')}\nhint: ${hint}`;
}

/** Names of the tools that are called, each once. */
export function waitingTools({ calls }: Waiting): string {
  return [...new Set(calls.map(({ name }) => name))].join(', ');
}

const toSeconds = (instant: string): string => instant.replace(/\.\d+Z$/, 'Z');

/** Commands that answer, a line each. */
function nextSteps(session: string, calls: readonly WaitingCall[]): string {
  const asks = calls.filter(wantsPermission).length;
  const all = asks > 1 ? ' --all' : '';
  const id = toShellArguments(session);
  const steps: [string, string][] = [
    ...(asks === 0
      ? []
      : ([
          [`allow ${id}${all}`, asks > 1 ? 'lets them run once' : 'lets it run once'],
          [`deny ${id}${all}`, asks > 1 ? 'refuses them' : 'refuses it'],
        ] as [string, string][])),
    ...calls
      .filter((call) => !wantsPermission(call))
      .map(({ id: call, name }): [string, string] => [
        `answer ${id}${calls.length > 1 ? ` --call ${call}` : ''} '…'`,
        `gives the result of ${oneLine(name)}`,
      ]),
    [`interrupt ${id}`, 'ends the turn'],
  ];
  const width = Math.max(...steps.map(([words]) => words.length));
  return steps
    .map(([words, effect]) => `gateway sessions ${words.padEnd(width)}  ${effect}`)
    .join('\n      ');
}
