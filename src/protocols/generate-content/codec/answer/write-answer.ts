import type { Steps } from '../../../../core/turns/in-turns.ts';
import type { AnswerContext, Encoded } from '../../../canonical/codec.ts';
import type { CanonicalAnswer, Part, TokenLogprob } from '../../../canonical/canonical.ts';
import type { Feature } from '../../../features.ts';
import { fromUsage } from '../../generate-content-usage.ts';
import { toGrounding, writeGrounding } from './grounding.ts';
import type { Grounding } from './grounding.ts';
import { writeLogprobs } from './logprobs.ts';
import { writeFinishReason } from './stop-reason.ts';
import { TextOffsets } from './text-offsets.ts';
import { toClientSignature, writeParts } from '../write-part.ts';
import type { WrittenPart } from '../write-part.ts';

/** One candidate under the logical model's name. */
export function* writeGenerateContentAnswer(
  answer: CanonicalAnswer,
  context: AnswerContext,
): Steps<Encoded> {
  const losses = new Set<Feature>();
  const { usage } = answer;
  const parts = writeParts(answer.parts, {
    losses,
    names: new Map(),
    signatureText: toClientSignature,
  });
  const candidate = {
    ...(parts.length > 0 && { content: { role: 'model', parts } }),
    finishReason: writeFinishReason(answer.stop),
    index: 0,
    ...(yield* writeNotes(answer.parts, parts)),
  };
  return {
    value: {
      candidates: [candidate],
      ...(usage && { usageMetadata: fromUsage(usage) }),
      modelVersion: context.model,
      responseId: answer.id ?? context.id,
    },
    losses: [...losses],
  };
}

/** Sources and probabilities, which this protocol keeps outside of the parts. */
function* writeNotes(parts: readonly Part[], written: readonly WrittenPart[]): Steps<object> {
  const said = parts.filter(({ type }) => type === 'text' || type === 'refusal');
  const places = [...written.keys()].filter((at) => isSaid(written[at] as WrittenPart));
  const groundings: Grounding[] = [];
  let logprobs: readonly TokenLogprob[] = [];
  let next = 0;
  for (const part of said) {
    if (!('text' in part) || part.text === '') continue;
    const place = places[next++];
    if (part.type !== 'text') continue;
    const offsets = new TextOffsets();
    offsets.add(part.text);
    groundings.push(...(part.citations ?? []).map((one) => toGrounding(one, offsets, place)));
    if (part.logprobs) logprobs = logprobs.concat(part.logprobs);
  }
  return {
    ...(groundings.length > 0 && { groundingMetadata: writeGrounding(groundings) }),
    ...(logprobs.length > 0 && { logprobsResult: yield* writeLogprobs(logprobs) }),
  };
}

function isSaid({ text, thought }: WrittenPart): boolean {
  return typeof text === 'string' && text !== '' && thought !== true;
}
