import { z } from 'zod';
import { approximateSize } from '../../core/json/approximate-size.ts';
import { GatewayError } from '../../core/errors.ts';
import { messagePart, systemMessage, userMessage } from '../../resources/files/message-parts.ts';
import type { NewEvent } from './session-event.ts';
import { parseInput } from './parse-input.ts';

/** Bytes of one event as JSON; the store takes no larger values than 16 MiB. */
const MAX_EVENT_BYTES = 12 * 1024 * 1024;
/** Bytes that one character takes as JSON, escaped. */
const MAX_BYTES_PER_CHAR = 6;
/** Events of one call. */
const MAX_EVENTS = 100;

const results = { content: z.array(messagePart()).optional(), is_error: z.boolean().nullish() };

const inputEvent = z.discriminatedUnion('type', [
  userMessage(),
  z.object({ type: z.literal('user.interrupt') }),
  z
    .object({
      type: z.literal('user.tool_confirmation'),
      tool_use_id: z.string(),
      result: z.enum(['allow', 'deny']),
      deny_message: z.string().nullish(),
    })
    .refine(({ result, deny_message: reason }) => result === 'deny' || !reason, {
      path: ['deny_message'],
      error: 'goes with the result `deny` alone',
    }),
  z.object({
    type: z.literal('user.custom_tool_result'),
    custom_tool_use_id: z.string(),
    ...results,
  }),
  z.object({ type: z.literal('user.tool_result'), tool_use_id: z.string(), ...results }),
  systemMessage(),
]);

const inputEvents = z.array(inputEvent).min(1).max(MAX_EVENTS);

/**
 * Parses events of a client (requirements sessions.events.send, sessions.events.send-validation);
 * members that no event has are left out.
 *
 * @param path of the list in the body, for errors: `events`
 * @throws GatewayError `invalid_request` with the path of the first fault; `body_too_large`
 */
export function parseInputEvents(value: unknown, path: string): NewEvent[] {
  const events: NewEvent[] = parseInput(inputEvents, value, path);
  for (const [index, event] of events.entries()) {
    if (isSurelySmall(event) || JSON.stringify(event).length <= MAX_EVENT_BYTES) continue;
    const param = `${path}[${index}]`;
    const message = `${param}: an event may have at most ${MAX_EVENT_BYTES} bytes`;
    throw new GatewayError('body_too_large', { message, param });
  }
  return events;
}

/** The size in characters decides for most events, which need not be serialized for that. */
function isSurelySmall(event: NewEvent): boolean {
  return approximateSize(event) * MAX_BYTES_PER_CHAR <= MAX_EVENT_BYTES;
}
