import { oneLine } from '../../core/printable.ts';
import type { Client } from '../../client/create-client.ts';
import type { CommandResult } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { toFailure } from '../failure.ts';
import type { Output } from '../output/output.ts';
import type { Conversation } from './conversation.ts';
import { LineReader } from './line-reader.ts';
import { completeLine, runSlashCommand, type SlashContext } from './slash-commands.ts';

/** Streams of a terminal; prompts and notes go to `output`. */
export interface ConversationTerminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

export interface ConverseOptions {
  client: Client;
  conversation: Conversation;
  terminal: ConversationTerminal;
  /** Name of the conversation in the gateway's records. */
  id: string;
}

const PROMPT = '> ';
const QUOTES = '"""';

/**
 * Keeps a conversation with a model until /exit, Ctrl-D or SIGTERM. A failed request is shown and
 * its message taken back; Ctrl-C stops an answer, whose beginning stays in the conversation.
 */
export async function converse(
  context: CommandContext,
  { client, conversation, terminal, id }: ConverseOptions,
): Promise<CommandResult> {
  const { output, signal } = context;
  let listed: Promise<readonly string[]> | undefined;
  const models = () =>
    (listed ??= client.models.list({ type: '' }, signal).then(
      (items) => items.map((item) => item.id),
      () => {
        listed = undefined;
        return [];
      },
    ));
  const slash: SlashContext = { conversation, cwd: context.io.cwd, models };
  const reader = new LineReader({
    ...terminal,
    complete: (line) => completeLine(line, models),
    onInterrupt: () => output.note('/exit or Ctrl-D leaves'),
  });
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  output.note(`${oneLine(conversation.model)}: /help lists the commands, Ctrl-D leaves`);
  try {
    for (;;) {
      const line = await reader.line(PROMPT);
      if (line === undefined) break;
      if (line.startsWith('/') && !line.startsWith('//')) {
        if (!(await runSlash(line, slash, output))) break;
        continue;
      }
      const text = await wholeMessage(line, reader);
      if (text.trim() === '') continue;
      await reader.interruptible((stop) =>
        answer(text, { client, conversation, context, id, stop }),
      );
    }
  } finally {
    signal.removeEventListener('abort', close);
    reader.close();
  }
  if (conversation.length > 0) {
    output.note(`gateway logs --conversation ${id} shows what these requests did and cost`);
  }
  return { streamed: true, data: null };
}

/** False when the line leaves the conversation. */
async function runSlash(line: string, slash: SlashContext, output: Output): Promise<boolean> {
  try {
    const told = await runSlashCommand(line, slash);
    if (told !== undefined) output.note(told);
    return told !== undefined;
  } catch (thrown) {
    await output.failure(toFailure(thrown), 'gateway.chat/v1');
    return true;
  }
}

/** The message that a line begins: up to the closing quotes where it opens them. */
async function wholeMessage(line: string, reader: LineReader): Promise<string> {
  if (!line.startsWith(QUOTES)) return line.startsWith('//') ? line.slice(1) : line;
  const lines: string[] = [];
  let next: string | undefined = line.slice(QUOTES.length);
  while (next !== undefined && !next.endsWith(QUOTES)) {
    lines.push(next);
    next = await reader.line('… ');
  }
  if (next !== undefined) lines.push(next.slice(0, -QUOTES.length));
  return lines.join('\n').trim();
}

interface Turn {
  client: Client;
  conversation: Conversation;
  context: CommandContext;
  id: string;
  /** Aborted by Ctrl-C. */
  stop: AbortSignal;
}

async function answer(
  text: string,
  { client, conversation, context, id, stop }: Turn,
): Promise<void> {
  const { output } = context;
  const messages = conversation.ask(text);
  const signal = AbortSignal.any([stop, context.signal]);
  const { model } = conversation;
  const writer = await output.events();
  let said = '';
  try {
    const stream = await client.chat.stream({ model, messages, conversation: id, signal });
    for await (const piece of stream) {
      said += piece.text;
      await writer.write(piece);
    }
    await writer.end('done');
    if (said === '') output.note('the model answered without text');
  } catch (thrown) {
    await writer.end('error', signal.aborted ? undefined : toFailure(thrown));
    if (signal.aborted) output.note('stopped');
  }
  if (said === '') conversation.takeBack();
  else conversation.answer(said);
}
