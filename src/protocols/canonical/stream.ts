import type { Usage } from '../../core/usage.ts';
import type {
  Citation,
  ImagePart,
  OpaquePart,
  Signature,
  Stop,
  TokenLogprob,
} from './canonical.ts';
import type { StreamFailure } from '../protocol.ts';

/** Kind of a part of the answer, announced when it begins; its text follows in deltas. */
export type PartOpening =
  | { readonly type: 'text' }
  | { readonly type: 'refusal' }
  | { readonly type: 'reasoning'; readonly ofNext?: boolean }
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      /** Its deltas are free text. */
      readonly custom?: true;
    }
  /** Whole: nothing of it follows. */
  | ImagePart
  | OpaquePart;

/**
 * An answer as it comes. Every part is opened once under a number of its own (`part`), gets its
 * deltas and is closed once. What decoders emit may be interleaved (`in-sequence.ts` puts it in
 * order): encoders see one part at a time, and everything closed before `finish`.
 */
export type PartEvent =
  | { readonly type: 'open'; readonly part: number; readonly opening: PartOpening }
  /** Text, reasoning text, refusal text, or a fragment of a call's arguments. */
  | { readonly type: 'delta'; readonly part: number; readonly text: string }
  | { readonly type: 'signature'; readonly part: number; readonly signature: Signature }
  | { readonly type: 'citation'; readonly part: number; readonly citation: Citation }
  | { readonly type: 'logprobs'; readonly part: number; readonly logprobs: readonly TokenLogprob[] }
  | { readonly type: 'close'; readonly part: number };

export type AnswerEvent =
  /** First of all; `usage` where the protocol reports the prompt's tokens at once. */
  | {
      readonly type: 'start';
      readonly id: string | undefined;
      readonly created?: number;
      readonly usage?: Usage;
    }
  | PartEvent
  /** A source of a text that was closed before: some providers send all of them at the end. */
  | { readonly type: 'late_citation'; readonly text: number; readonly citation: Citation }
  /** Stop reason; parts that are open still are closed by it. */
  | { readonly type: 'finish'; readonly stop: Stop }
  /** Usage so far; the last one counts. May come before or after `finish`. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The provider's stream ended as it should. Nothing follows. */
  | { readonly type: 'end' };

export type CanonicalEvent =
  | AnswerEvent
  /** The provider began its answer again: all earlier events are void. `start` follows. */
  | { readonly type: 'restart' }
  /** The provider reported a failure, or sent invalid data. Nothing follows. */
  | { readonly type: 'failure'; readonly failure: StreamFailure };
