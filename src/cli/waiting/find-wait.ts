import type { Client } from '../../client/create-client.ts';
import { CliError } from '../cli-error.ts';
import type { Failure } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { lookUp } from '../resources/not-found.ts';
import { askCalls } from './ask-calls.ts';
import { waitingFailure } from './waiting-words.ts';

/**
 * Asks the gateway at each call what a Session waits for, as the failure of a command that depends on its turn;
 * undefined: for nothing.
 */
export function findWait(
  client: Client,
  session: string,
  signal?: AbortSignal,
): () => Promise<Failure | undefined> {
  return async () => {
    const { waiting } = await client.sessions.get(session, signal);
    return waiting ? waitingFailure(session, waiting) : undefined;
  };
}

/** Answers of a person on the terminal; undefined where none can be asked. */
export function askOnWait(
  client: Client,
  session: string,
  { asks, format, signal }: CommandContext,
): (() => Promise<boolean>) | undefined {
  // A yes to everything is meant for what the person has typed, not for what a model wants to call.
  if (!asks || format !== 'text') return undefined;
  return async () => {
    const { askLine } = await import('../input/ask.ts');
    const terminal = { input: process.stdin, output: process.stderr, signal };
    const ask = (question: string) => askLine(question, terminal, `Session ${session} still waits`);
    return askCalls(client, session, { ask, signal });
  };
}

/**
 * Lets a message through to a Session that waits for nothing, or does not any more once a person has answered.
 *
 * @throws CliError `session_waiting` (exit 7); `not_found`
 */
export async function settleWait(
  client: Client,
  session: string,
  context: CommandContext,
): Promise<void> {
  const find = findWait(client, session, context.signal);
  const sought = { kind: 'sessions', named: session } as const;
  const failure = await lookUp(sought, find);
  if (failure === undefined || (await askOnWait(client, session, context)?.())) return;
  const { code, message, hint } = failure;
  throw new CliError({ code, message, hint, exit: 'run_failed' });
}
