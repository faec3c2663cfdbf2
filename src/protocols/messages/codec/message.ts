import { collectSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type { AnswerContext, AnswerJson, Encoded } from '../../canonical/codec.ts';
import type { CanonicalAnswer } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { toMessage } from '../messages-answer.ts';
import { toMessagesUsage } from '../messages-usage.ts';
import { fromContent } from './from-block.ts';
import { fromStopReason, refusalOf, toStopReason } from './stop-reasons.ts';
import { toAnswerBlock } from './to-block.ts';
import { toUsageObject } from './usage-object.ts';

/** Undefined unless it is a message of the protocol. */
export function* decodeMessagesAnswer({ value }: AnswerJson): Steps<CanonicalAnswer | undefined> {
  try {
    const message = toMessage(value);
    if (!message) return undefined;
    yield;
    const { id, content, usage } = message;
    if (content.length === 0 && typeof message['stop_reason'] !== 'string') return undefined;
    const place = { path: 'content', writer: 'provider', unmapped: new Set<string>() } as const;
    const parts = fromContent(content, place);
    const refusal = refusalOf(message);
    if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal });
    return {
      id: typeof id === 'string' ? id : undefined,
      parts,
      stop: fromStopReason(
        message,
        parts.some(({ type }) => type === 'tool_call'),
      ),
      usage: toMessagesUsage(usage),
    };
  } catch {
    return undefined;
  }
}

export function* encodeMessagesAnswer(
  answer: CanonicalAnswer,
  context: AnswerContext,
): Steps<Encoded> {
  const losses = new Set<Feature>();
  const said = new Set(answer.parts.map(({ type }) => type));
  const content = yield* collectSteps(answer.parts, (part) => {
    const block = toAnswerBlock(part, losses);
    return block ? [block] : [];
  });
  const value = {
    id: answer.id ?? context.id,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content,
    ...toStopReason(answer.stop, said),
    usage: toUsageObject(answer.usage),
  };
  return { value, losses: [...losses] };
}
