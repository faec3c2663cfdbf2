import type { ChatMessage, ChatRequest } from '../../../client/chat.ts';
import type { Client } from '../../../client/create-client.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandResult, CommandRun } from '../../command.ts';
import { toFailure } from '../../failure.ts';
import { printable } from '../../../core/printable.ts';
import { readPrompt } from '../../input/read-prompt.ts';

export const run: CommandRun = async ({ args, flags, context }) => {
  const messages: ChatMessage[] = [];
  const system = flags.text('system');
  if (system !== undefined) messages.push({ role: 'system', content: system });
  const content = await readPrompt(args['prompt'], context, 'gateway chat <model> "…"');
  messages.push({ role: 'user', content });
  const request = { model: args['model'] ?? '', messages, signal: context.signal };
  const client = await context.connect();
  if (!flags.on('no-stream')) return streamAnswer(client, request, context);
  const answer = await client.chat.create(request);
  return { data: answer.body, text: printable(answer.text) };
};

async function streamAnswer(
  client: Client,
  request: ChatRequest,
  context: CommandContext,
): Promise<CommandResult> {
  const stream = await client.chat.stream(request);
  // From here on the output is a stream, and a failure is its last line.
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
