import type { ChatRequest } from '../../../client/chat.ts';
import type { Client } from '../../../client/create-client.ts';
import { Conversation } from '../../chat/conversation.ts';
import { readAttachment } from '../../chat/read-attachment.ts';
import { withMeantModel } from '../../chat/meant-model.ts';
import { isTerminal, type CommandContext } from '../../context.ts';
import type { CommandResult } from '../../command.ts';
import { toFailure } from '../../failure.ts';
import { createIdSource } from '../../../core/ids.ts';
import { printable } from '../../../core/printable.ts';
import { readPrompt } from '../../input/read-prompt.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'chat'> = async ({ args, flags, context }) => {
  const { io } = context;
  const model = args.model;
  const conversation = new Conversation(model, flags.system);
  for (const file of flags.file) conversation.attach(await readAttachment(file, io.cwd));
  const given = args.prompt;
  const isConversation = given === undefined && isTerminal(io) && context.format === 'text';
  if (isConversation && !flags['no-stream']) {
    const client = await context.connect();
    const { converse } = await import('../../chat/converse.ts');
    const terminal = { input: process.stdin, output: process.stderr };
    const id = createIdSource(context.clock).next('chat');
    return converse(context, { client, conversation, terminal, id });
  }
  const prompt = await readPrompt(given, context, 'gateway chat <model> "…"');
  const request = { model, messages: conversation.ask(prompt), signal: context.signal };
  const client = await context.connect();
  if (!flags['no-stream']) return streamAnswer(client, request, context);
  const answer = await withMeantModel(client, request, () => client.chat.create(request));
  return { data: answer.body, text: printable(answer.text) };
};

async function streamAnswer(
  client: Client,
  request: ChatRequest,
  context: CommandContext,
): Promise<CommandResult> {
  const meant = { model: request.model, signal: context.signal };
  const stream = await withMeantModel(client, meant, () => client.chat.stream(request));
  // The output is a stream now, and a failure is its last line.
  const writer = await context.output.events();
  try {
    for await (const piece of stream) await writer.write(piece);
    await writer.end('done');
    return { streamed: true, data: null };
  } catch (thrown) {
    const failure = toFailure(thrown);
    await writer.end(failure.code === 'aborted' ? 'interrupted' : 'error', failure);
    return { streamed: true, data: null, exitCode: failure.exitCode };
  }
}
