import type { Steps } from '../../../core/turns/in-turns.ts';
import type { AnswerContext, Encoded } from '../../canonical/codec.ts';
import type {
  CanonicalAnswer,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { writeCitation, writeLogprobs } from './annotations.ts';
import { writeFinishReason } from './finish-reason.ts';
import { OF_CONTENT, signedDetail } from './reasoning-details.ts';
import { writeChatUsage } from '../chat-usage.ts';

/** A `chat.completion` under the logical model's name. */
export function* writeChatAnswer(answer: CanonicalAnswer, context: AnswerContext): Steps<Encoded> {
  const { parts, stop, usage } = answer;
  const texts = parts.filter((part) => part.type === 'text');
  const logprobs = texts.flatMap((text) => text.logprobs ?? []);
  const choice = {
    index: 0,
    message: writeMessage(parts, isLegacy(context)),
    logprobs: logprobs.length > 0 ? yield* writeLogprobs(logprobs) : null,
    finish_reason: writeFinishReason(stop, isLegacy(context)),
  };
  const value = {
    id: answer.id ?? context.id,
    object: 'chat.completion',
    created: answer.created ?? context.created,
    model: context.model,
    choices: [choice],
    ...(usage && { usage: writeChatUsage(usage) }),
  };
  return { value, losses: lossesOf(parts, isLegacy(context)) };
}

/** The client asked with `functions`, and reads `function_call`. */
export function isLegacy({ peek }: AnswerContext): boolean {
  return peek.calls?.isLegacy === true;
}

function writeMessage(parts: readonly Part[], legacy: boolean): object {
  const texts = parts.filter((part) => part.type === 'text');
  const refusals = parts.filter((part) => part.type === 'refusal');
  const calls = parts.filter((part) => part.type === 'tool_call');
  const annotations = writeAnnotations(texts);
  const isSilent = texts.length === 0 && (calls.length > 0 || refusals.length > 0);
  return {
    role: 'assistant',
    content: isSilent ? null : texts.map(({ text }) => text).join(''),
    refusal: refusals.length > 0 ? refusals.map(({ text }) => text).join('') : null,
    ...writeReasoning(parts),
    ...(annotations.length > 0 && { annotations }),
    ...writeCalls(calls, legacy),
  };
}

/** `function_call` holds one call. */
function writeCalls(calls: readonly ToolCallPart[], legacy: boolean): object {
  const [first] = calls;
  if (!first) return {};
  if (legacy) return { function_call: { name: first.name, arguments: first.arguments || '{}' } };
  return {
    tool_calls: calls.map(({ id, name, arguments: text, custom }) =>
      custom
        ? { id, type: 'custom', custom: { name, input: text } }
        : { id, type: 'function', function: { name, arguments: text || '{}' } },
    ),
  };
}

function writeAnnotations(texts: readonly TextPart[]): object[] {
  let shift = 0;
  return texts.flatMap(({ text, citations = [] }) => {
    const place = { shift, length: text.length };
    shift += text.length;
    return citations.map((citation) => writeCitation(citation, place));
  });
}

function writeReasoning(parts: readonly Part[]): object {
  const details = parts.flatMap((part, at) =>
    part.type === 'reasoning' ? [{ part, next: parts[at + 1] }] : [],
  );
  if (details.length === 0) return {};
  const text = details.map(({ part }) => part.text).join('');
  return {
    ...(text !== '' && { reasoning_content: text }),
    reasoning_details: details.map(({ part, next }, index) => writeDetail(part, { index, next })),
  };
}

function writeDetail(
  { text, signature, ofNext }: ReasoningPart,
  { index, next }: { index: number; next: Part | undefined },
): object {
  if (!signature) return { type: 'reasoning.text', text, index };
  const of = ofNext ? ownerOf(next) : undefined;
  return signedDetail({ signature, text: text === '' ? undefined : text }, { index, of });
}

/** Returns the owner that a signature names when it belongs to the next part. */
export function ownerOf(next: Part | { type: string; id?: string } | undefined): string {
  return next?.type === 'tool_call' && 'id' in next && next.id !== undefined ? next.id : OF_CONTENT;
}

const UNSAID: Partial<Record<Part['type'], Feature>> = {
  opaque: 'builtin_tools',
  image: 'images',
  audio: 'audio',
  document: 'documents',
};

function lossesOf(parts: readonly Part[], legacy: boolean): Feature[] {
  const calls = parts.filter(({ type }) => type === 'tool_call');
  const further: Feature[] = legacy && calls.length > 1 ? ['parallel_tool_calls'] : [];
  return [...new Set([...parts.flatMap(({ type }) => UNSAID[type] ?? []), ...further])];
}
