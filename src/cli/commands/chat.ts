import type { ChatMessage, ChatRequest } from '../../client/chat.ts';
import type { Client } from '../../client/create-client.ts';
import { usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import type { CommandInput, CommandResult, CommandRun } from '../command.ts';
import { toFailure } from '../failure.ts';
import { printable } from '../printable.ts';

export const run: CommandRun = async (input) => {
  const { args, flags, context } = input;
  const messages: ChatMessage[] = [];
  const system = flags.text('system');
  if (system !== undefined) messages.push({ role: 'system', content: system });
  messages.push({ role: 'user', content: await promptOf(input) });
  const request = { model: args['model'] ?? '', messages, signal: context.signal };
  const client = await context.connect();
  if (!flags.on('no-stream')) return streamAnswer(client, request, context);
  const answer = await client.chat.create(request);
  return { data: answer.body, text: printable(answer.text) };
};

async function promptOf({ args, context }: CommandInput): Promise<string> {
  const given = args['prompt'];
  if (given !== undefined && given !== '-') return given;
  if (given === undefined && context.io.stdin.isTTY) {
    throw usageError('the prompt is missing', 'gateway chat <model> "…", or pipe it in');
  }
  const prompt = (await context.readStdin()).trimEnd();
  if (prompt === '') throw usageError('the prompt is empty');
  return prompt;
}

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
