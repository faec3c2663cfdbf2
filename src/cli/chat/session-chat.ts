import type { Client } from '../../client/create-client.ts';
import type { ServiceRun } from '../../client/services.ts';
import { ShownText } from '../../runtime/entry/shown-text.ts';
import type { CommandResult } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readPrompt } from '../input/read-prompt.ts';
import { showEvents } from '../waiting/show-events.ts';
import { isTerminal } from '../context.ts';
import { askCalls } from '../waiting/ask-calls.ts';
import { findWait, settleWait } from '../waiting/find-wait.ts';
import { showTurn, turnText } from '../waiting/show-turn.ts';
import type { ConversationTerminal } from './converse.ts';
import { LineReader } from './line-reader.ts';

const LEAVE = '/exit';

/** A message as it was sent, and its Session. */
export type SentMessage = Pick<ServiceRun, 'session_id' | 'events'>;

export interface SessionChatOptions {
  readonly client: Client;
  /** Single message in place of a conversation. */
  readonly prompt: string | undefined;
  /** Session to continue; undefined: `begin` makes one. */
  readonly session: string | undefined;
  /** Words of the command, for hints: `gateway agents chat helper`. */
  readonly command: string;
  /** Sends the first message of a new Session. */
  begin(text: string): Promise<SentMessage>;
}

/** Talks with an Agent: a conversation on a terminal, elsewhere one message and its answer. */
export async function chatWithSession(
  context: CommandContext,
  options: SessionChatOptions,
): Promise<CommandResult> {
  const { io, format } = context;
  const { prompt, client, session } = options;
  if (prompt === undefined && isTerminal(io) && format === 'text') {
    const terminal = { input: process.stdin, output: process.stderr };
    return converseWithSession(context, { ...options, terminal });
  }
  const text = await readPrompt(prompt, context, `${options.command} "…"`);
  if (session !== undefined) await settleWait(client, session, context);
  const sent = await sendText(options, text);
  context.output.note(`session ${sent.session_id}`);
  return showTurn(client, sent, { context });
}

/** Keeps a conversation until /exit, Ctrl-D or SIGTERM; Ctrl-C ends the turn that runs. */
export async function converseWithSession(
  context: CommandContext,
  { terminal, ...options }: SessionChatOptions & { readonly terminal: ConversationTerminal },
): Promise<CommandResult> {
  const { output, signal } = context;
  let { session } = options;
  const reader = new LineReader({
    ...terminal,
    complete: async (line) => [[], line],
    onInterrupt: () => output.note('/exit or Ctrl-D leaves'),
  });
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  output.note('Ctrl-C ends a turn, Ctrl-D leaves');
  const ask = async (question: string) => {
    const answer = await reader.question(question);
    if (answer?.trim() !== LEAVE) return answer;
    // As Ctrl-D: the call stays pending.
    reader.close();
    return undefined;
  };
  try {
    for (;;) {
      // A Session that waits takes no message up.
      if (session !== undefined && !(await askCalls(options.client, session, { ask, signal })))
        break;
      const text = await reader.line('> ');
      if (text === undefined || text.trim() === LEAVE) break;
      if (text.trim() === '') continue;
      const sent = await sendText({ ...options, session }, text);
      session = sent.session_id;
      await reader.interruptible(async (stop) => {
        await answer(context, { ...options, sent, stop, ask });
        // At the end of the input the turn continues, or waits.
        if (stop.aborted && !reader.isClosed) await interrupt(options.client, sent.session_id);
      });
    }
  } finally {
    signal.removeEventListener('abort', close);
    reader.close();
    if (session !== undefined) output.note(`${options.command} --session ${session} continues it`);
  }
  return { streamed: true, data: null };
}

interface Turn extends Pick<SessionChatOptions, 'client'> {
  readonly sent: SentMessage;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
  ask(question: string): Promise<string | undefined>;
}

async function answer(
  { output, signal: end }: CommandContext,
  { client, sent, stop, ask }: Turn,
): Promise<void> {
  const { session_id: session } = sent;
  const signal = AbortSignal.any([stop, end]);
  const shown = new ShownText();
  const onWait = () => askCalls(client, session, { ask, signal });
  await showEvents(client.services.follow(sent, { signal, onWait }), {
    output,
    textOf: (event) => turnText(event, shown),
    isAwaited: true,
    findWait: findWait(client, session, end),
  });
}

async function interrupt({ sessions }: Client, session: string): Promise<void> {
  await sessions.send(session, [{ type: 'user.interrupt' }]);
}

async function sendText(
  { client, session, begin }: Pick<SessionChatOptions, 'client' | 'session' | 'begin'>,
  text: string,
): Promise<SentMessage> {
  if (session === undefined) return begin(text);
  return sendMessage(client, session, text);
}

/** Sends a text as a message to a Session. */
export async function sendMessage(
  client: Client,
  session: string,
  text: string,
): Promise<SentMessage> {
  const message = { type: 'user.message', content: [{ type: 'text', text }] } as const;
  return { session_id: session, events: [...(await client.sessions.send(session, [message]))] };
}
