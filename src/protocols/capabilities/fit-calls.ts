import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { Part, ReasoningPart, ToolResultPart, Turn } from '../canonical/canonical.ts';
import type { Feature } from '../features.ts';
import type { Capabilities } from './capabilities.ts';

/** Google's word for a signature that was lost (ai.google.dev/gemini-api/docs/thought-signatures). */
const UNSIGNED: ReasoningPart = {
  type: 'reasoning',
  text: '',
  ofNext: true,
  signature: { origin: 'generate-content', value: 'skip_thought_signature_validator' },
};

/**
 * Turns whose calls are signed and whose results are texts, where the model wants them so. Media of
 * results are shown by the user, behind all results of the round.
 *
 * @param losses takes that media do not stand in their results
 */
export function* fitCalls(
  turns: readonly Turn[],
  takes: Capabilities,
  losses: Set<Feature>,
): Steps<readonly Turn[]> {
  const signed = takes.signed_calls
    ? yield* collectSteps(turns, (turn) => [withSignedCall(turn)])
    : turns;
  if (takes.tool_result_media) return signed;
  let shown: Part[] = [];
  const told = yield* collectSteps(signed, (turn, index) => {
    const parts = turn.parts.map((part) => {
      const media = part.type === 'tool_result' ? mediaOf(part) : [];
      if (part.type !== 'tool_result' || media.length === 0) return part;
      losses.add('tool_result_images');
      const text = `Files in the result of the tool call ${part.callId}:`;
      shown.push({ type: 'text', text }, ...media);
      return { ...part, content: part.content.filter((one) => !isMedia(one)) };
    });
    const isLast = shown.length > 0 && signed[index + 1]?.role !== 'tool';
    const behind: Turn[] = isLast ? [{ role: 'user', parts: shown }] : [];
    if (isLast) shown = [];
    return [{ ...turn, parts }, ...behind];
  });
  return told;
}

type Content = ToolResultPart['content'][number];

function isMedia({ type }: Content): boolean {
  return type === 'image' || type === 'document';
}

function mediaOf({ content }: ToolResultPart): Content[] {
  return content.filter(isMedia);
}

/** The first call of a turn bears the signature of all. */
function withSignedCall(turn: Turn): Turn {
  const at = turn.parts.findIndex(({ type }) => type === 'tool_call');
  const before = turn.parts[at - 1];
  if (at < 0 || (before?.type === 'reasoning' && before.ofNext && isOwn(before))) return turn;
  return { ...turn, parts: turn.parts.toSpliced(at, 0, UNSIGNED) };
}

function isOwn({ signature }: ReasoningPart): boolean {
  return signature?.origin === 'generate-content';
}
