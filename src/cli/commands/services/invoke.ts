import { isRecord } from '../../../client/http/guards.ts';
import type { TurnEvent } from '../../../client/services.ts';
import { ShownText } from '../../../runtime/entry/shown-text.ts';
import { usageError } from '../../cli-error.ts';
import { lookUp } from '../../resources/not-found.ts';
import { readPrompt } from '../../input/read-prompt.ts';
import { showEvents } from '../../output/show-events.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'invoke'> = async ({ args, flags, context }) => {
  const { output, signal } = context;
  const given = flags.input;
  if (given !== undefined && args.input !== undefined)
    throw usageError('the message is given twice', 'give it as the argument or with --input');
  const message = given ?? args.input;
  const input = await readPrompt(message, context, 'gateway invoke <service> "…"');
  const client = await context.connect();
  const named = args.service;
  const service = await lookUp({ kind: 'services', named, isOwn: true }, () =>
    client.services.find(named, signal),
  );
  const sessionId = flags.session;
  const sent = await client.services.run({ service, input, sessionId, signal });
  if (!flags.follow) return { data: sent, text: sent.session_id };
  output.note(`session ${sent.session_id}`);
  const shown = new ShownText();
  return showEvents(client.services.follow(sent, signal), {
    output,
    textOf: (event) => textOf(event, shown),
    isAwaited: true,
  });
};

/** Text that the event adds to the agent's words. */
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
