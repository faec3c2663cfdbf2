import { Buffer, isUtf8 } from 'node:buffer';
import { atOnce, inTurns, LONG_BYTES } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, RequestPeek } from '../protocol.ts';
import { keepPublic } from './public/keep-public.ts';
import { publicSlots } from './public/public-slots.ts';
import { RESPONSE } from './public/response-shape.ts';
import { isBlank, isProviderFailure } from './responses-failure.ts';
import { measureItems } from './responses-output.ts';
import { pinsOfAnswer } from './responses-pins.ts';
import { usageOfResponse } from './responses-usage.ts';

/**
 * A Response with only its public members, under the logical model name. Undefined for anything
 * else and for a failure of the provider: nothing of it reaches the client (requirement
 * responses.response.fail-closed).
 */
export function readResponsesAnswer(
  source: AnswerSource,
  { model }: RequestPeek,
): Answer | undefined | Promise<Answer | undefined> {
  const document = answerDocument(source);
  if (!document || !isUtf8(document.body)) return undefined;
  const steps = readSteps(document, model);
  return document.body.length > LONG_BYTES ? inTurns(steps) : atOnce(steps);
}

function* readSteps(document: JsonDocument, model: string): Steps<Answer | undefined> {
  const { body, value } = document;
  yield;
  if (!isResponse(value) || isProviderFailure(value) || isBlank(value)) return undefined;
  // Every byte is one character in latin1, so the kept text is byte for byte the input.
  const kept = keepPublic(body.toString('latin1'), RESPONSE, publicSlots(model, value['error']));
  yield;
  if (kept === undefined) return undefined;
  return {
    body: Buffer.from(kept, 'latin1'),
    usage: readResponsesUsage(document),
    outputChars: measureItems(value['output']),
    pins: pinsOfAnswer(value),
  };
}

/** Usage of a Response, whether it can be used or not. */
export function readResponsesUsage(document: JsonDocument): Usage | undefined {
  const usage = told(document, 'usage');
  if (usage === undefined) return undefined;
  return usageOfResponse({
    usage,
    service_tier: told(document, 'service_tier'),
    tool_usage: told(document, 'tool_usage'),
    tools: told(document, 'tools'),
    output: document.get('output'),
  });
}

function isResponse({ id, object, output }: Readonly<Record<string, unknown>>): boolean {
  return typeof id === 'string' && id !== '' && object === 'response' && Array.isArray(output);
}
