import { Buffer } from 'node:buffer';
import { atOnce } from '../../../core/turns/in-turns.ts';
import { stringifyWithRaw } from '../../../core/json/raw.ts';
import type { Usage } from '../../../core/usage.ts';
import type { AnswerContext, StreamEncoder } from '../../canonical/codec.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import type { Citation, Signature, Stop } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import type { InBandError } from '../../protocol.ts';
import { ElementWriter } from '../element-writer.ts';
import { fromUsage } from '../generate-content-usage.ts';
import { toGrounding, writeGrounding } from './answer/grounding.ts';
import type { Grounding } from './answer/grounding.ts';
import { writeLogprobs } from './answer/logprobs.ts';
import { writeFinishReason } from './answer/stop-reason.ts';
import { TextOffsets } from './answer/text-offsets.ts';
import { toClientSignature, writeCall } from './write-part.ts';
import type { WrittenPart } from './write-part.ts';

export function createGenerateContentEncoder(context: AnswerContext): StreamEncoder {
  return new GenerateContentEncoder(context);
}

/** A text as it is on the wire. */
interface WrittenText {
  readonly offsets: TextOffsets;
  /** Characters so far. */
  length: number;
  /** Characters of earlier texts that are one with it. */
  readonly start: number;
  readonly place: number;
}

/** Official clients forget an answer that had a piece without any part. */
const NOTHING: WrittenPart = { text: '' };
/** Arguments beyond it count as cut off. */
const MAX_ARGUMENTS = 16 * 1024 * 1024;
const MAX_SOURCES = 1000;

/**
 * Writes an answer per piece of text; a call comes whole, as clients read it. Finish reason,
 * sources and usage are in the last one.
 */
class GenerateContentEncoder implements StreamEncoder {
  readonly losses = new Set<Feature>();
  readonly #context: AnswerContext;
  readonly #writer: ElementWriter;
  #id: string;
  #opening: PartOpening | undefined;
  /** The growing part showed something. */
  #shown = false;
  #arguments = '';
  /** Waits for the part that it belongs to. */
  #waiting: string | undefined;
  /** Index in a whole answer of the last part that was shown. */
  #place = -1;
  #isPlaced = false;
  /** Marks that part as a text. */
  #isText = false;
  #text: WrittenText = { offsets: new TextOffsets(), length: 0, start: 0, place: 0 };
  /** Texts by the numbers of their parts. */
  readonly #texts = new Map<number, WrittenText>();
  /** Sources of the text that grows. */
  readonly #citations: Citation[] = [];
  readonly #groundings: Grounding[] = [];
  #stop: Stop = { kind: 'other' };
  #usage: Usage | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#writer = new ElementWriter(context.peek);
    this.#id = context.id;
  }

  write(event: AnswerEvent): Buffer | undefined {
    switch (event.type) {
      case 'start':
        this.#id = event.id ?? this.#id;
        this.#usage = event.usage ?? this.#usage;
        return undefined;
      case 'open':
        return this.#open(event.part, event.opening);
      case 'delta':
        return this.#grow(event.text);
      case 'signature':
        return this.#sign(event.signature);
      case 'citation':
        if (this.#groundings.length + this.#citations.length < MAX_SOURCES)
          this.#citations.push(event.citation);
        return undefined;
      case 'late_citation':
        this.#groundLate(event.text, event.citation);
        return undefined;
      case 'logprobs':
        return this.#candidate(NOTHING, {
          logprobsResult: atOnce(writeLogprobs(event.logprobs)),
        });
      case 'close':
        return this.#close();
      case 'finish':
        this.#stop = event.stop;
        return undefined;
      case 'usage':
        this.#usage = event.usage;
        return undefined;
      case 'end':
    }
    return this.#end();
  }

  errorFrame(error: InBandError): Buffer {
    return this.#writer.failure(error);
  }

  #open(part: number, opening: PartOpening): undefined {
    this.#opening = opening;
    this.#shown = false;
    this.#isPlaced = false;
    this.#arguments = '';
    if (opening.type === 'text') this.#openText(part);
    if (opening.type === 'opaque') this.losses.add('builtin_tools');
    if (opening.type === 'image') this.losses.add('images');
    if (opening.type === 'refusal') this.losses.add('refusals');
  }

  #grow(text: string): Buffer | undefined {
    if (text === '') return undefined;
    switch (this.#opening?.type) {
      case 'text':
        this.#text.offsets.add(text);
        this.#text.length += text.length;
        return this.#part({ text });
      case 'refusal':
        return this.#part({ text });
      case 'reasoning':
        this.#shown = true;
        return this.#part({ text, thought: true });
      case 'tool_call':
        if (this.#arguments.length <= MAX_ARGUMENTS) this.#arguments += text;
        return undefined;
      case 'image':
      case 'opaque':
      case undefined:
    }
    return undefined;
  }

  #sign(signature: Signature): Buffer | undefined {
    const thoughtSignature = toClientSignature(signature);
    if (this.#opening?.type === 'reasoning' && this.#opening.ofNext) {
      this.#waiting = thoughtSignature;
      return undefined;
    }
    // The text was sent before.
    return this.#part({ text: '', ...(this.#shown && { thought: true }), thoughtSignature });
  }

  #close(): Buffer | undefined {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening?.type === 'text') this.#ground(this.#citations.splice(0), this.#text);
    if (opening?.type !== 'tool_call') return undefined;
    const { id, name } = opening;
    return this.#part(writeCall({ id, name, arguments: this.#arguments }, this.losses));
  }

  /** Texts that follow one another are one on the wire. */
  #openText(part: number): void {
    const { offsets, length } = this.#text;
    this.#text = this.#isText
      ? { offsets, length, start: length, place: this.#place }
      : { offsets: new TextOffsets(), length: 0, start: 0, place: this.#place + 1 };
    this.#texts.set(part, this.#text);
  }

  /** Writes citations once the text is whole, for their offsets are those of that text. */
  #ground(citations: readonly Citation[], { offsets, start, place }: WrittenText): void {
    for (const one of citations) {
      const moved = {
        ...one,
        ...(one.start !== undefined && { start: one.start + start }),
        ...(one.end !== undefined && { end: one.end + start }),
      };
      this.#groundings.push(toGrounding(moved, offsets, place));
    }
  }

  #groundLate(part: number, citation: Citation): void {
    const text = this.#texts.get(part);
    if (text && this.#groundings.length < MAX_SOURCES) this.#ground([citation], text);
  }

  #part(part: WrittenPart): Buffer {
    const isText = this.#opening?.type === 'text';
    if (!this.#isPlaced && !(isText && this.#isText)) this.#place++;
    this.#isPlaced = true;
    this.#isText = isText;
    const signed = this.#waiting === undefined ? {} : { thoughtSignature: this.#waiting };
    this.#waiting = undefined;
    return this.#candidate({ ...part, ...signed });
  }

  #end(): Buffer {
    const usage = this.#usage;
    const alone = this.#waiting === undefined ? {} : { thoughtSignature: this.#waiting };
    const last = this.#candidate(
      { ...NOTHING, ...alone },
      {
        finishReason: writeFinishReason(this.#stop),
        // Clients that keep the last grounding must find all sources in it.
        ...(this.#groundings.length > 0 && {
          groundingMetadata: writeGrounding(this.#groundings),
        }),
      },
      usage && { usageMetadata: fromUsage(usage) },
    );
    const end = this.#writer.end();
    return end ? Buffer.concat([last, end]) : last;
  }

  #candidate(part: WrittenPart, candidate: object = {}, rest: object = {}): Buffer {
    const content = { role: 'model', parts: [part] };
    return this.#writer.element(
      stringifyWithRaw({
        candidates: [{ content, ...candidate, index: 0 }],
        ...rest,
        modelVersion: this.#context.model,
        responseId: this.#id,
      }),
    );
  }
}
