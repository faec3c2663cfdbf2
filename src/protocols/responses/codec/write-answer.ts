import { Buffer } from 'node:buffer';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { formatSse } from '../../../core/sse/frame.ts';
import type { AnswerContext, Encoded, StreamEncoder } from '../../canonical/codec.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import type { CanonicalAnswer, Part } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import type { InBandError } from '../../protocol.ts';
import { toErrorEvent } from '../responses-event.ts';
import { AnswerWriter } from './answer-writer.ts';
import type { ResponsesEvent } from './answer-writer.ts';

/** Tokens whose probabilities are written in one step. */
const TOKENS = 64;

/** A Response under the logical model's name. */
export function* writeResponsesAnswer(
  answer: CanonicalAnswer,
  context: AnswerContext,
): Steps<Encoded> {
  const writer = new AnswerWriter(context);
  const losses = new Set<Feature>();
  const { id, created, parts, stop, usage } = answer;
  writer.write({ type: 'start', id, ...(created === undefined ? {} : { created }) });
  for (const [index, part] of parts.entries()) {
    const opening = openingOf(part);
    const lost = LOST[part.type];
    if (!opening && lost) losses.add(lost);
    if (!opening) continue;
    for (const event of eventsOf(part, index, opening)) {
      writer.write(event);
      if (event.type === 'logprobs') yield;
    }
  }
  writer.write({ type: 'finish', stop });
  if (usage) writer.write({ type: 'usage', usage });
  return { value: writer.response as Encoded['value'], losses: [...losses, ...writer.losses] };
}

const LOST: Partial<Record<Part['type'], Feature>> = {
  audio: 'audio',
  document: 'documents',
};

function eventsOf(one: Part, part: number, opening: PartOpening): AnswerEvent[] {
  const text = one.type === 'tool_call' ? one.arguments : 'text' in one ? one.text : '';
  const events: AnswerEvent[] = [
    { type: 'open', part, opening },
    { type: 'delta', part, text },
  ];
  if (one.type === 'reasoning' && one.signature)
    events.push({ type: 'signature', part, signature: one.signature });
  if (one.type === 'text') {
    for (let from = 0; one.logprobs && from < one.logprobs.length; from += TOKENS)
      events.push({ type: 'logprobs', part, logprobs: one.logprobs.slice(from, from + TOKENS) });
    for (const citation of one.citations ?? []) events.push({ type: 'citation', part, citation });
  }
  return [...events, { type: 'close', part }];
}

function openingOf(part: Part): PartOpening | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return { type: part.type };
    case 'tool_call':
      return {
        type: 'tool_call',
        id: part.id,
        name: part.name,
        ...(part.custom && { custom: true }),
      };
    case 'image':
    case 'opaque':
      return part;
    case 'document':
    case 'audio':
    case 'tool_result':
  }
  return undefined;
}

export function createResponsesEncoder(context: AnswerContext): StreamEncoder {
  return new ResponsesEncoder(context);
}

/** Writes numbered events; the last one repeats the whole answer. */
class ResponsesEncoder implements StreamEncoder {
  readonly #writer: AnswerWriter;
  #sequence = 0;

  constructor(context: AnswerContext) {
    this.#writer = new AnswerWriter(context);
  }

  get losses(): ReadonlySet<Feature> {
    return this.#writer.losses;
  }

  write(event: AnswerEvent): Buffer | undefined {
    const frames = this.#writer.write(event).map((one) => this.#toFrame(one));
    return frames.length > 1 ? Buffer.concat(frames) : frames[0];
  }

  #toFrame({ type, members }: ResponsesEvent): Buffer {
    const head = `{"type":"${type}","sequence_number":${this.#sequence++},`;
    return formatSse({ event: type, data: head + JSON.stringify(members).slice(1) });
  }

  errorFrame(error: InBandError): Buffer {
    return toErrorEvent(error, this.#sequence);
  }
}
