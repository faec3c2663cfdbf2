import type { Client } from '../../client/create-client.ts';
import { isRecord } from '../../client/guards.ts';
import type { ServiceRun, TurnEvent } from '../../client/services.ts';
import { ShownText } from '../../runtime/entry/shown-text.ts';
import type { CommandResult, CommandRun } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { toFailure } from '../failure.ts';
import type { Failure } from '../output.ts';
import { readPrompt } from '../read-prompt.ts';

/** Ways in which a turn ends without having failed. */
const ENDS = new Set(['end_turn', 'requires_action', 'refusal']);

export const run: CommandRun = async ({ args, flags, context }) => {
  const { signal } = context;
  const input = await readPrompt(args['input'], context, 'gateway invoke <service> "…"');
  const client = await context.connect();
  const service = await client.services.find(args['service'] ?? '', signal);
  const sessionId = flags.text('session');
  const sent = await client.services.run({ service, input, sessionId, signal });
  if (flags.on('follow')) return follow(client, sent, context);
  return { data: sent, text: sent.session_id };
};

async function follow(
  client: Client,
  sent: ServiceRun,
  context: CommandContext,
): Promise<CommandResult> {
  const { output, signal } = context;
  output.note(`session ${sent.session_id}`);
  // From here on the output is a stream, and a failure is its last line.
  const writer = await output.events();
  const shown = new ShownText();
  try {
    const events = client.services.follow(sent, signal);
    let next = await events.next();
    while (!next.done) {
      await writer.write({ text: textOf(next.value, shown), event: next.value });
      next = await events.next();
    }
    const { type, error } = next.value;
    const failure = ENDS.has(type) ? undefined : failed(type, error?.['message']);
    await writer.end(type, failure);
    if (type === 'requires_action') output.note('the session waits for an answer of its client');
    return { streamed: true, data: null, exitCode: failure?.exitCode ?? 0 };
  } catch (thrown) {
    const failure = toFailure(thrown);
    await writer.end(failure.code === 'aborted' ? 'interrupted' : 'error', failure);
    return { streamed: true, data: null, exitCode: failure.exitCode };
  }
}

function failed(type: string, reason: unknown): Failure {
  const told = typeof reason === 'string' ? `: ${reason}` : '';
  const message = `the turn ended with ${type}${told}`;
  return { code: type, message, exitCode: EXIT.run_failed.code };
}

/** What the event adds to what the agent said. */
function textOf(event: TurnEvent, shown: ShownText): string {
  if (event['type'] === 'event_delta') {
    const { event_id: id, delta } = event;
    const content = isRecord(delta) ? delta['content'] : undefined;
    const text = isRecord(content) ? String(content['text']) : '';
    shown.grow(String(id), text);
    return text;
  }
  const { type, id, content } = event;
  if (type !== 'agent.message' || !Array.isArray(content)) return '';
  const parts = content.filter(isRecord).map(({ text }) => (typeof text === 'string' ? text : ''));
  return `${shown.rest(String(id), parts.join(''))}\n`;
}
