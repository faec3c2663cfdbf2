import { GatewayError } from '../../../core/errors.ts';
import type { Usage } from '../../../core/usage.ts';
import type { AnswerContext } from '../../canonical/codec.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import type { Citation, ImagePart, Stop } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { CallItem, CustomCallItem, MessageItem, ReasoningItem } from './output-item.ts';
import type { ItemPlace, OutputItem } from './output-item.ts';
import { toResponse } from './response-object.ts';
import { writeStop } from './stops.ts';
import type { Ending } from './stops.ts';

/** The last event repeats the whole answer, so it is kept; more than any model says is not. */
const MAX_CHARS = 64 * 1024 * 1024;

/** An event of the protocol but for its number. */
export interface ResponsesEvent {
  readonly type: string;
  /** One member or more. */
  readonly members: object;
}

/** Turns the events of an answer into those of the protocol, and into the Response that they add up to. */
export class AnswerWriter {
  readonly losses = new Set<Feature>();
  readonly #context: AnswerContext;
  readonly #output: object[] = [];
  #events: ResponsesEvent[] = [];
  #id: string;
  #created: number;
  #isBegun = false;
  #item: OutputItem | undefined;
  /** Functions that add a source to a text, by the numbers of their parts. */
  readonly #texts = new Map<number, (citation: Citation) => void>();
  /** The part that grows now is one of `#item`. */
  #isGrowing = false;
  #stop: Stop = { kind: 'other' };
  #usage: Usage | undefined;
  #size = 0;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#id = context.id;
    this.#created = context.created;
  }

  /** The finished Response. */
  get response(): object {
    return toResponse(this.#context, {
      ...writeStop(this.#stop),
      id: this.#id,
      created: this.#created,
      output: this.#output,
      usage: this.#usage,
    });
  }

  /** Throws `invalid_upstream_response` for an answer that is too large to be repeated. */
  write(event: AnswerEvent): readonly ResponsesEvent[] {
    if (!this.#isBegun) this.#begin(event);
    this.#take(event);
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #begin(event: AnswerEvent): void {
    this.#isBegun = true;
    if (event.type === 'start') {
      this.#id = event.id ?? this.#id;
      this.#created = event.created ?? this.#created;
      this.#usage = event.usage;
    }
    const response = toResponse(this.#context, {
      status: 'in_progress',
      incomplete_details: null,
      id: this.#id,
      created: this.#created,
      output: [],
      usage: undefined,
    });
    this.#emit('response.created', { response });
    this.#emit('response.in_progress', { response });
  }

  #take(event: AnswerEvent): void {
    switch (event.type) {
      case 'open':
        this.#open(event.part, event.opening);
        break;
      case 'delta':
        this.#grow(event.text);
        break;
      case 'signature':
        if (this.#item instanceof ReasoningItem) this.#item.sign(event.signature);
        break;
      case 'citation':
        if (this.#item instanceof MessageItem) this.#item.cite(event.citation);
        break;
      case 'late_citation':
        this.#texts.get(event.text)?.(event.citation);
        break;
      case 'logprobs':
        if (this.#item instanceof MessageItem) this.#item.weigh(event.logprobs);
        break;
      case 'close':
        this.#endPart();
        break;
      case 'finish':
        this.#stop = event.stop;
        this.#endItem(writeStop(event.stop).status);
        break;
      case 'usage':
        this.#usage = event.usage;
        break;
      case 'end':
        this.#endItem();
        this.#emit(`response.${writeStop(this.#stop).status}`, { response: this.response });
        break;
      case 'start':
    }
  }

  #open(part: number, opening: PartOpening): void {
    this.#endPart();
    if (opening.type === 'text' || opening.type === 'refusal') {
      const message = this.#item instanceof MessageItem ? this.#item : this.#beginMessage();
      const citer = message.beginPart(opening.type === 'text' ? 'output_text' : 'refusal');
      this.#texts.set(part, citer);
    } else {
      this.#endItem();
      if (opening.type === 'opaque') return this.#addOpaque(opening);
      if (opening.type === 'image') return this.#addImage(opening);
      this.#item =
        opening.type === 'reasoning'
          ? new ReasoningItem(this.#placeOf('rs'))
          : this.#beginCall(opening);
    }
    this.#isGrowing = true;
  }

  #beginCall(opening: Extract<PartOpening, { type: 'tool_call' }>): OutputItem {
    return opening.custom
      ? new CustomCallItem(this.#placeOf('ctc'), opening)
      : new CallItem(this.#placeOf('fc'), opening);
  }

  #beginMessage(): MessageItem {
    this.#endItem();
    const message = new MessageItem(this.#placeOf('msg'));
    this.#item = message;
    return message;
  }

  #addOpaque({ origin, value: item }: Extract<PartOpening, { type: 'opaque' }>): void {
    if (origin === 'responses') this.#addWhole(item as object);
    else this.losses.add('builtin_tools');
  }

  /** The protocol has pictures of the model's own as results of a tool. */
  #addImage({ source }: ImagePart): void {
    if (source.type !== 'data') {
      this.losses.add('images');
      return;
    }
    this.#addWhole({
      id: this.#placeOf('ig').id,
      type: 'image_generation_call',
      status: 'completed',
      result: source.data,
      output_format: source.mediaType.replace(/^image\//, ''),
    });
  }

  #addWhole(item: object): void {
    const output_index = this.#output.push(item) - 1;
    this.#emit('response.output_item.added', { output_index, item });
    this.#emit('response.output_item.done', { output_index, item });
  }

  #grow(text: string): void {
    if (!this.#isGrowing || text === '') return;
    this.#size += text.length;
    if (this.#size > MAX_CHARS)
      throw new GatewayError('invalid_upstream_response', { message: 'the answer is too large' });
    this.#item?.grow(text);
  }

  /** Its item stays open: a message for further texts, any until it is known that the answer was not cut off in it. */
  #endPart(): void {
    if (this.#isGrowing && this.#item instanceof MessageItem) this.#item.endPart();
    this.#isGrowing = false;
  }

  #endItem(status: Ending['status'] = 'completed'): void {
    this.#endPart();
    if (this.#item) this.#output.push(this.#item.close(status));
    this.#item = undefined;
  }

  #placeOf(prefix: string): ItemPlace {
    const index = this.#output.length;
    const emit = (type: string, members: object): void => this.#emit(type, members);
    return { id: `${prefix}_${this.#id}_${index}`, index, emit };
  }

  #emit(type: string, members: object): void {
    this.#events.push({ type, members });
  }
}
