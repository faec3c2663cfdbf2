import { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';
import { parseInput } from '../../sessions/parse-input.ts';
import type { ServiceMessage } from './service-runs.ts';

/** The members that say what is sent, in every entry point that takes them. */
export const messageFields = {
  input: z
    .string()
    .min(1)
    .optional()
    .describe('Text of the message. Exactly one of input and content is required.'),
  content: z
    .array(z.looseObject({ type: z.string() }))
    .min(1)
    .optional()
    .describe('The message as parts of the types text, image and document.'),
  session_id: z.string().min(1).optional().describe('Session to go on with. Default: a new one.'),
};

const body = z.object({ ...messageFields, session_id: messageFields.session_id.nullish() });

/**
 * The body of a REST run (requirement endpoints.run.input-or-content).
 *
 * @throws GatewayError `invalid_request`
 */
export function readRun(value: unknown): ServiceMessage {
  return toMessage(parseInput(body, value));
}

/** @throws GatewayError `invalid_request` unless there is exactly one of `input` and `content` */
export function toMessage({
  input,
  content,
  session_id: sessionId,
}: z.output<typeof body>): ServiceMessage {
  if ((input === undefined) === (content === undefined)) {
    const message = 'input: exactly one of input and content is required';
    throw new GatewayError('invalid_request', { message, param: 'input' });
  }
  return {
    content: content ?? [{ type: 'text', text: input }],
    sessionId: sessionId ?? undefined,
  };
}
