import { Buffer, isUtf8 } from 'node:buffer';
import { atOnce, inTurns, LONG_BYTES } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { answerDocument, told } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, ProviderWork, RequestPeek } from '../protocol.ts';
import { isWorkId } from '../work-id.ts';
import { keepPublic } from './public/keep-public.ts';
import { publicSlots } from './public/public-slots.ts';
import { RESPONSE } from './public/response-shape.ts';
import { isProviderFailure } from './responses-failure.ts';
import { isBlank, isPending, measureItems } from './responses-output.ts';
import { pinsOfAnswer } from './responses-pins.ts';
import { usageOfResponse } from './responses-usage.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * A Response with only its public members, under the logical model name. Undefined for anything
 * else and for a failure of the provider: nothing of it reaches the client (requirement
 * responses.response.fail-closed).
 */
export function readResponsesAnswer(
  source: AnswerSource,
  peek: RequestPeek,
): Answer | undefined | Promise<Answer | undefined> {
  const document = answerDocument(source);
  if (!document || !isUtf8(document.body)) return undefined;
  const steps = readSteps(document, peek);
  return document.body.length > LONG_BYTES ? inTurns(steps) : atOnce(steps);
}

function* readSteps(document: JsonDocument, peek: RequestPeek): Steps<Answer | undefined> {
  const { body, value } = document;
  yield;
  if (!isResponse(value) || !isAnswer(value, peek)) return undefined;
  // Every byte is one character in latin1, so the kept text is byte for byte the input.
  const kept = keepPublic(
    body.toString('latin1'),
    RESPONSE,
    publicSlots(peek.model, value['error']),
  );
  yield;
  if (kept === undefined) return undefined;
  return {
    body: Buffer.from(kept, 'latin1'),
    // A look costs nothing, whatever the provider repeats.
    usage: peek.question ? NO_USAGE : readResponsesUsage(document),
    outputChars: measureItems(value['output']),
    pins: pinsOfAnswer(value),
    stored: isStored(peek, value['store']),
    work: peek.background || peek.question ? toWork(value) : undefined,
  };
}

/**
 * True for an answer that its provider can be asked for later. Work in the background can be polled also where
 * it is not stored, and a stored thing that was found may be found again.
 */
export function isStored({ background, question, unstored }: RequestPeek, store: unknown): boolean {
  return background === true || question !== undefined || (unstored !== true && store !== false);
}

/** The state of a Response that may outlive its call; undefined without a usable id. */
export function toWork(value: Members): ProviderWork | undefined {
  const { id, status } = value;
  return isWorkId(id) && typeof status === 'string' ? { id, status, value } : undefined;
}

/** One that is looked up is an answer in every state; of others not a failure, nor one that is over and empty. */
function isAnswer(value: Members, { background, question }: RequestPeek): boolean {
  if (question) return value['id'] === question.below[0];
  if (isProviderFailure(value)) return false;
  return (background === true && isPending(value['status'])) || !isBlank(value);
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

function isResponse({ id, object, output }: Members): boolean {
  return typeof id === 'string' && id !== '' && object === 'response' && Array.isArray(output);
}
