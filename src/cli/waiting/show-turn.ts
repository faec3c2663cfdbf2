import { isRecord } from '../../client/http/guards.ts';
import type { Client } from '../../client/create-client.ts';
import type { ServiceRun, TurnEvent } from '../../client/services.ts';
import { ShownText } from '../../runtime/entry/shown-text.ts';
import type { NewEvent, SessionEvent } from '../../sessions/log/session-event.ts';
import type { CommandResult } from '../command.ts';
import type { FlagInput } from '../command-input.ts';
import type { CommandContext } from '../context.ts';
import { eventLine } from '../output/event-line.ts';
import { showEvents } from './show-events.ts';
import type { FOLLOW_FLAGS } from '../tables/session-commands.ts';
import { askOnWait, findWait } from './find-wait.ts';

interface ShownTurn {
  readonly context: CommandContext;
  /** True: every event as a line; false: only the words of the agent. */
  readonly asEvents?: boolean | undefined;
}

/** Shows the turn of a message, or the one that another event continues, to its end. Asks on a terminal. */
export function showTurn(
  client: Client,
  run: Pick<ServiceRun, 'session_id' | 'events'>,
  { context, asEvents = false }: ShownTurn,
): Promise<CommandResult> {
  const { output, signal } = context;
  const { session_id: session } = run;
  const shown = new ShownText();
  const onWait = askOnWait(client, session, context);
  return showEvents(client.services.follow(run, { signal, onWait }), {
    output,
    textOf: (event) => (asEvents ? lineOf(event) : turnText(event, shown)),
    isAwaited: true,
    findWait: findWait(client, session, signal),
  });
}

/** Sends events to a Session; with --follow or --tail, shows the turn that they are for. */
export async function sendEvents(
  { context, flags }: FlagInput<typeof FOLLOW_FLAGS>,
  {
    client,
    session,
    events,
    text,
  }: {
    readonly client: Client;
    readonly session: string;
    readonly events: readonly NewEvent[];
    /** Names the action that was done. */
    readonly text: string;
  },
): Promise<CommandResult> {
  const { follow, tail } = flags;
  const sent = await client.sessions.send(session, events, context.signal);
  const run = { session_id: session, events: [...sent] };
  if (!follow && !tail) return { data: run, text };
  context.output.note(text);
  return showTurn(client, { ...run, events: sent.slice(-1) }, { context, asEvents: tail });
}

function lineOf(event: TurnEvent): string {
  return typeof event['processed_at'] === 'string' ? `${eventLine(event as SessionEvent)}\n` : '';
}

/** Text that the event adds to the agent's words. */
export function turnText(event: TurnEvent, shown: ShownText): string {
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
