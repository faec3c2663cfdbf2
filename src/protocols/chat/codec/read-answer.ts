import type { Steps } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { AnswerJson } from '../../canonical/codec.ts';
import type {
  CanonicalAnswer,
  Part,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../canonical/canonical.ts';
import { isUsableChoice } from '../chat-chunk.ts';
import { usageOf } from '../chat-usage.ts';
import { readCitations, readLogprobs } from './annotations.ts';
import { readAnswerContent } from './answer-content.ts';
import { isNoCall } from '../../canonical/no-call.ts';
import { defined, membersOf } from '../../json-fields.ts';
import type { Members } from '../../json-fields.ts';
import { readFinishReason } from './finish-reason.ts';
import { CONTENT_SIGNATURE, readReasoning } from './reasoning-details.ts';

/** A completion in the canonical form; undefined for any other body. */
export function* readChatAnswer({ value }: AnswerJson): Steps<CanonicalAnswer | undefined> {
  if (!isJsonObject(value) || isJsonObject(value['error']) || !Array.isArray(value['choices']))
    return undefined;
  const choice: unknown = value['choices'][0];
  if (!isJsonObject(choice) || !isUsableChoice(choice)) return undefined;
  const { finish_reason: reason } = choice;
  const logprobs = yield* readLogprobs(choice['logprobs']);
  const parts = readParts(membersOf(choice['message']), logprobs);
  const hasCalls = parts.some(({ type }) => type === 'tool_call');
  const { id, created } = value;
  return {
    id: typeof id === 'string' && id !== '' ? id : undefined,
    ...defined({ created: typeof created === 'number' ? created : undefined }),
    parts,
    stop: readFinishReason(typeof reason === 'string' ? reason : '', hasCalls),
    usage: usageOf(value),
  };
}

function readParts(message: Members, logprobs: readonly TokenLogprob[]): Part[] {
  const { text, reasoning } = readAnswerContent(message['content']);
  const { refusal } = message;
  return [
    ...readReasoning(message, false).map(({ part }) => part),
    ...(reasoning
      ? [{ type: 'reasoning' as const, text: reasoning, signature: CONTENT_SIGNATURE }]
      : []),
    ...(text ? [readText(text, message, logprobs)] : []),
    ...(typeof refusal === 'string' && refusal
      ? [{ type: 'refusal' as const, text: refusal }]
      : []),
    ...readCalls(message),
  ];
}

function readText(text: string, message: Members, logprobs: readonly TokenLogprob[]): TextPart {
  const citations = readCitations(message);
  return {
    type: 'text',
    text,
    ...(citations.length > 0 && { citations }),
    ...(logprobs.length > 0 && { logprobs }),
  };
}

function readCalls(message: Members): ToolCallPart[] {
  const { tool_calls: given, function_call: older } = message;
  const calls = Array.isArray(given) ? given.filter(isJsonObject) : [];
  const all = calls.length === 0 && isJsonObject(older) ? [{ function: older }] : calls;
  return all.flatMap((call: Members, index) => {
    const { isCustom, name, text } = readCalled(call);
    if (isNoCall(name, text)) return [];
    const { id } = call;
    return [
      {
        type: 'tool_call' as const,
        id: typeof id === 'string' && id !== '' ? id : `call_${index}`,
        name,
        arguments: text,
        ...(isCustom && { custom: true as const }),
      },
    ];
  });
}

/** Reads the function or the custom tool that a call, or a piece of one, names. */
export function readCalled(call: Members): {
  isCustom: boolean;
  name: string;
  text: string;
} {
  const asFunction = readMembers(call['function'], 'arguments');
  const asCustom = readMembers(call['custom'], 'input');
  // Servers that write every member always have both, the one that is not meant with empty values.
  const isCustom =
    isJsonObject(call['custom']) && (call['type'] === 'custom' || isNoCall(...asFunction));
  const [name, text] = isCustom ? asCustom : asFunction;
  return { isCustom, name, text };
}

function readMembers(called: unknown, textMember: string): [name: string, text: string] {
  const { name, [textMember]: text } = membersOf(called);
  return [typeof name === 'string' ? name : '', readArguments(text)];
}

/** A few servers give objects in place of their text. */
function readArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return isJsonObject(value) ? JSON.stringify(value) : '';
}
