import type {
  NewEvent,
  PlacedEvent,
  SessionEvent,
} from '../../../src/sessions/log/session-event.ts';
import type { TurnLog, TurnRunner } from '../../../src/sessions/sessions.ts';
import { idle } from '../../sessions/support.ts';

/** One turn: what it appends after its start; an idle event ends it, and so does its return. */
export type Script = (turn: Turn) => Promise<void>;

export interface Turn {
  readonly log: TurnLog;
  /** Text of the message that it is for. */
  readonly text: string;
  /** Resolves when a client interrupts, or nobody runs the turn any more. */
  interrupted(): Promise<void>;
  add(...events: NewEvent[]): Promise<void>;
  /** Shows an answer in parts, then tells it whole. */
  say(...parts: string[]): Promise<void>;
}

/** Runs a script for every message, in their order. */
export function scripted(script: Script): TurnRunner {
  return {
    async run(log, signal) {
      for (;;) {
        signal.throwIfAborted();
        const message = await nextMessage(log);
        if (!message) return;
        if (log.session.status !== 'running') await log.append([], { status: 'running' });
        // The same turn again, after a restart, does the same.
        await log.append([{ type: 'span.model_request_start' }], { handled: message.seq });
        await script(toTurn(log, message, signal));
        signal.throwIfAborted();
        if (log.session.status === 'running')
          await log.append([idle('end_turn')], { status: 'idle' });
      }
    },
  };
}

/** Every turn has one model request; a message without is the next. */
async function nextMessage(log: TurnLog): Promise<PlacedEvent | undefined> {
  const waiting: PlacedEvent[] = [];
  for await (const placed of log.events()) {
    if (placed.event.type === 'user.message') waiting.push(placed);
    if (placed.event.type === 'span.model_request_start') waiting.shift();
  }
  return waiting[0];
}

function toTurn(log: TurnLog, { event }: PlacedEvent, signal: AbortSignal): Turn {
  const add = async (...events: NewEvent[]): Promise<void> => {
    const last = events.at(-1)?.type;
    await log.append(events, last === 'session.status_idle' ? { status: 'idle' } : {});
  };
  const [part] = event['content'] as { text?: string }[];
  return {
    log,
    text: part?.text ?? '',
    add,
    interrupted: () =>
      new Promise((resolve) => {
        const look = async (): Promise<void> => {
          for await (const { event: one } of log.events())
            if (one.type === 'user.interrupt') return resolve();
        };
        log.onInput(() => void look());
        signal.addEventListener('abort', () => resolve(), { once: true });
        void look();
      }),
    async say(...parts) {
      const id = log.nextEventId();
      log.show({ type: 'event_start', event: { type: 'agent.message', id } });
      for (const text of parts) {
        const content = { type: 'text', text };
        log.show({ type: 'event_delta', event_id: id, delta: { type: 'content_delta', content } });
      }
      await add({ type: 'agent.message', id, content: [{ type: 'text', text: parts.join('') }] });
    },
  };
}

/** Resolves with the first event of the type that is there. */
export function arrival({ log }: Turn, type: string): Promise<SessionEvent> {
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      for await (const { event } of log.events()) if (event.type === type) resolve(event);
    };
    log.onInput(() => void look());
    void look();
  });
}

/** Asks about one call, waits for the word of the client and repeats it. */
export const asking = scripted(async (turn) => {
  if (turn.text !== 'ask') return turn.say('you said ', turn.text);
  const use = { name: 'rm', input: { path: '/' }, evaluated_permission: 'ask' };
  await turn.add({ type: 'agent.mcp_tool_use', id: 'sevt_use', ...use });
  await turn.add(idle('requires_action', { event_ids: ['sevt_use'] }));
  const { result, deny_message: why } = await arrival(turn, 'user.tool_confirmation');
  await turn.say([result, why].filter(Boolean).join(': '));
});
