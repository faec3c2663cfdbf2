import { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';
import { parseInput } from '../../sessions/log/parse-input.ts';
import type { ServiceMessage } from './service-runs.ts';

export const messageText = z.string().min(1);
export const messageParts = z.array(z.looseObject({ type: z.string() })).min(1);
export const sessionToGoOn = z.string().min(1);

const body = z.object({
  input: messageText.optional(),
  content: messageParts.optional(),
  session_id: sessionToGoOn.nullish(),
});

/**
 * The body of a REST run (requirement endpoints.run.input-or-content).
 *
 * @throws GatewayError `invalid_request`, also unless there is exactly one of `input` and `content`
 */
export function readRun(value: unknown): ServiceMessage {
  const { input, content, session_id: sessionId } = parseInput(body, value);
  if ((input === undefined) === (content === undefined)) throw inputOrContent();
  return {
    content: content ?? [{ type: 'text', text: input }],
    sessionId: sessionId ?? undefined,
  };
}

export function inputOrContent(): GatewayError {
  const message = 'input: exactly one of input and content is required';
  return new GatewayError('invalid_request', { message, param: 'input' });
}
