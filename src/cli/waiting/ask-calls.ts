import type { Client } from '../../client/create-client.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';
import type { Waiting, WaitingCall } from '../../sessions/waiting.ts';
import { toConfirmation, toToolResult } from './answers.ts';
import { callText, wantsPermission } from './waiting-words.ts';

export interface AskOptions {
  /** Asks for a line; undefined at the end of the input. */
  ask(question: string): Promise<string | undefined>;
  readonly signal?: AbortSignal | undefined;
}

/** Asks a person for the answers to all that the Session waits for; false when some were left open. */
export async function askCalls(
  { sessions }: { readonly sessions: Pick<Client['sessions'], 'get' | 'send'> },
  session: string,
  { ask, signal }: AskOptions,
): Promise<boolean> {
  const look = async (): Promise<Waiting['calls']> =>
    (await sessions.get(session, signal)).waiting?.calls ?? [];
  for (const call of await look()) {
    const event = await askCall(call, ask);
    if (event === undefined) return false;
    // Another client may have answered meanwhile.
    const isOpen = (await look()).some(({ id }) => id === call.id);
    if (isOpen) await sessions.send(session, [event], signal);
  }
  return true;
}

async function askCall(call: WaitingCall, ask: AskOptions['ask']): Promise<NewEvent | undefined> {
  const isPermission = wantsPermission(call);
  const question = isPermission
    ? `Allow ${callText(call)}? (y: once, n: deny, or the reason to deny it) `
    : `Result of ${callText(call)}: `;
  let answer: string | undefined = '';
  while (answer?.trim() === '') answer = await ask(question);
  if (answer === undefined) return undefined;
  if (!isPermission) return toToolResult(call, { value: answer });
  const text = answer.trim();
  if (/^y(es)?$/i.test(text)) return toConfirmation(call, { result: 'allow' });
  const reason = /^no?$/i.test(text) ? undefined : text;
  return toConfirmation(call, { result: 'deny', reason });
}
