import type { Part, ReasoningPart, TextPart } from '../../canonical/canonical.ts';

/**
 * The same parts with neighbours joined that are pieces of one: texts, and thoughts up to the one
 * that carries the signature. Clients send back what a stream brought them piece by piece.
 */
export function joinParts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const both = last && join(last, part);
    if (both) joined[joined.length - 1] = both;
    else joined.push(part);
  }
  return joined;
}

function join(first: Part, second: Part): Part | undefined {
  if (first.type === 'text' && second.type === 'text') return joinTexts(first, second);
  if (first.type !== 'reasoning' || second.type !== 'reasoning') return undefined;
  return isGrowing(first) && second.ofNext !== true ? joinThoughts(first, second) : undefined;
}

function isGrowing({ signature, ofNext }: ReasoningPart): boolean {
  return signature === undefined && ofNext !== true;
}

function joinThoughts(first: ReasoningPart, second: ReasoningPart): ReasoningPart {
  return { ...second, text: first.text + second.text };
}

function joinTexts(first: TextPart, second: TextPart): TextPart {
  const shift = first.text.length;
  const moved = second.citations?.map(({ start, end, ...rest }) => ({
    ...rest,
    ...(start !== undefined && { start: start + shift }),
    ...(end !== undefined && { end: end + shift }),
  }));
  const citations = [...(first.citations ?? []), ...(moved ?? [])];
  const logprobs = [...(first.logprobs ?? []), ...(second.logprobs ?? [])];
  return {
    type: 'text',
    text: first.text + second.text,
    ...(citations.length > 0 && { citations }),
    ...(logprobs.length > 0 && { logprobs }),
  };
}
