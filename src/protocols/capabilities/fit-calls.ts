import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type {
  Part,
  ReasoningPart,
  Signature,
  ToolResultPart,
  Turn,
} from '../canonical/canonical.ts';
import type { Feature } from '../features.ts';
import type { Protocol } from '../registry.ts';
import type { Capabilities } from './capabilities.ts';

/** Follows the results of tools where the user cannot. */
const SEEN: Turn = { role: 'assistant', parts: [{ type: 'text', text: 'I have the results.' }] };

/** Model that is asked, in the protocol of its provider. */
interface CallTarget {
  readonly protocol: Protocol;
  readonly takes: Capabilities;
}

/**
 * Turns whose calls are signed and whose results are texts, where the model wants them so. Media of
 * results are in a turn of the user, after all results of the round, and a turn of the assistant is between.
 *
 * @param losses notes media that are not in their results
 */
export function* fitCalls(
  turns: readonly Turn[],
  { protocol, takes }: CallTarget,
  losses: Set<Feature>,
): Steps<readonly Turn[]> {
  const value = takes.unsigned_call;
  const signed =
    value === null
      ? turns
      : yield* collectSteps(turns, (turn) => [withSignedCall(turn, { origin: protocol, value })]);
  // Some codecs put such media after the results, where this model takes no turn of the user.
  if (takes.tool_result_media && takes.user_after_tool) return signed;
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
    const next = signed[index + 1]?.role;
    const isJoined = turn.role === 'tool' && next === 'user' && !takes.consecutive_user_turns;
    if (shown.length === 0 || next === 'tool' || isJoined) return [{ ...turn, parts }];
    const media = shown;
    shown = [];
    const behind: Turn = { role: 'user', parts: media };
    if (turn.role === 'user') return [{ ...turn, parts: [...media, ...parts] }];
    return [{ ...turn, parts }, behind];
  });
  if (takes.user_after_tool) return told;
  return yield* collectSteps(told, (turn, index) =>
    turn.role === 'user' && told[index - 1]?.role === 'tool' ? [SEEN, turn] : [turn],
  );
}

/** Turns whose calls have reasoning in front, where the model wants its own back and there is none. */
export function withReasonedCalls(
  turns: readonly Turn[],
  { protocol, takes: { unreasoned_call: text } }: CallTarget,
): Steps<readonly Turn[]> {
  return collectSteps(turns, (turn) => {
    const isCall = turn.parts.some(({ type }) => type === 'tool_call');
    if (text === null || !isCall || turn.parts.some((part) => isOwnReasoning(part, protocol)))
      return [turn];
    return [{ ...turn, parts: [{ type: 'reasoning', text }, ...turn.parts] }];
  });
}

function isOwnReasoning(part: Part, protocol: Protocol): boolean {
  if (part.type !== 'reasoning' || part.text === '') return false;
  return part.signature === undefined || part.signature.origin === protocol;
}

type Content = ToolResultPart['content'][number];

function isMedia({ type }: Content): boolean {
  return type === 'image' || type === 'document';
}

function mediaOf({ content }: ToolResultPart): Content[] {
  return content.filter(isMedia);
}

/** The first call of a turn bears the signature of all. */
function withSignedCall(turn: Turn, unsigned: Signature): Turn {
  const at = turn.parts.findIndex(({ type }) => type === 'tool_call');
  const before = turn.parts[at - 1];
  const isSigned = before?.type === 'reasoning' && before.ofNext === true;
  if (at < 0 || (isSigned && before.signature?.origin === unsigned.origin)) return turn;
  const word: ReasoningPart = { type: 'reasoning', text: '', ofNext: true, signature: unsigned };
  return { ...turn, parts: turn.parts.toSpliced(at, 0, word) };
}
