import type { Buffer } from 'node:buffer';
import type { Steps } from '../../../../core/turns/in-turns.ts';
import { parseKeepingRaw } from '../../../../core/json/raw.ts';
import { isJsonObject } from '../../../../core/json/value.ts';
import type { AnswerJson } from '../../../canonical/codec.ts';
import type {
  CanonicalAnswer,
  Part,
  Stop,
  TextPart,
  TokenLogprob,
} from '../../../canonical/canonical.ts';
import { membersOf, textOf } from '../../fields.ts';
import type { Members } from '../../fields.ts';
import {
  blockReasonOf,
  candidatesOf,
  finishReasonOf,
  isUsableCandidate,
  partsOf,
} from '../../generate-content-chunk.ts';
import { usageOfContent } from '../../generate-content-usage.ts';
import { CallPieces } from '../../partial-args.ts';
import { CallIds, createAnswerIds } from '../call-ids.ts';
import { readGrounding, toCitation } from './grounding.ts';
import type { Grounding } from './grounding.ts';
import { joinParts } from '../join-parts.ts';
import { readLogprobs } from './logprobs.ts';
import { RAW_MEMBERS, readPart } from '../read-part.ts';
import type { PartIds } from '../read-part.ts';
import { readFinishReason } from './stop-reason.ts';
import { TextOffsets } from './text-offsets.ts';

/** Undefined for an error, or with neither a candidate nor a cause for refusing the prompt. */
export function* readGenerateContentAnswer({
  body,
  value,
}: AnswerJson): Steps<CanonicalAnswer | undefined> {
  if (!isJsonObject(value) || isJsonObject(value['error'])) return undefined;
  const [candidate] = candidatesOf(value).filter(isUsableCandidate);
  const blocked = blockReasonOf(value);
  if (!candidate && blocked === undefined) return undefined;
  const logprobs = candidate && (yield* readLogprobs(membersOf(candidate, 'logprobsResult')));
  const parts = candidate
    ? readCandidate(candidate, { ids: idsOf(body), logprobs })
    : readBlock(value);
  return {
    id: textOf(value, 'responseId'),
    parts,
    stop: candidate
      ? readStop(candidate, parts)
      : { kind: 'refusal', ...(blocked && { raw: blocked }) },
    usage: usageOfContent(value),
  };
}

/** The object in the text, with arguments as they are spelled; undefined when there is none. */
export function parseAnswer(json: string): Members | undefined {
  try {
    const value = parseKeepingRaw(json, RAW_MEMBERS);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Ids for the calls of an answer; each is given once. */
export function idsOf(seed: string | Buffer): PartIds {
  const next = createAnswerIds(seed);
  const given = new CallIds(new Set());
  return {
    ofCall: (id, name) => given.ofCall(id ?? next(), name),
    ofResponse: (id, name) => given.ofResponse(id ?? next(), name),
  };
}

/** Reads the provider's report of a prompt that it refused. */
export function readBlock(answer: Members): Part[] {
  const text = textOf(membersOf(answer, 'promptFeedback'), 'blockReasonMessage');
  return text ? [{ type: 'refusal', text }] : [];
}

function readStop(candidate: Members, parts: readonly Part[]): Stop {
  const calls = parts.some(({ type }) => type === 'tool_call');
  return readFinishReason(finishReasonOf(candidate) ?? 'STOP', calls);
}

function readCandidate(
  candidate: Members,
  { ids, logprobs = [] }: { ids: PartIds; logprobs: readonly TokenLogprob[] | undefined },
): Part[] {
  const pieces = new CallPieces();
  const whole = partsOf(candidate).flatMap((part) => pieces.take(part));
  const written = [...whole, ...pieces.flush()].map((part) => readPart(part, ids));
  const place = (index: number | undefined): number => {
    const isText = index !== undefined && written[index]?.some(({ type }) => type === 'text');
    return isText ? index : written.findIndex((all) => all.some(({ type }) => type === 'text'));
  };
  const groundings = readGrounding(candidate);
  const first = place(undefined);
  return joinParts(
    written.flatMap((parts, index) =>
      parts.map((part) => {
        if (part.type !== 'text') return part;
        const own = groundings.filter((one) => place(one.part) === index);
        const cited = withCitations(part, own);
        return index === first && logprobs.length > 0 ? { ...cited, logprobs } : cited;
      }),
    ),
  );
}

function withCitations(part: TextPart, groundings: readonly Grounding[]): TextPart {
  if (groundings.length === 0) return part;
  const text = new TextOffsets();
  text.add(part.text);
  return { ...part, citations: groundings.map((one) => toCitation(one, text)) };
}
