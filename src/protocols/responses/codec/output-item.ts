import type { Citation, Signature, TokenLogprob } from '../../canonical/canonical.ts';
import { writeCitation, writeLogprobs } from './annotations.ts';
import type { Ending } from './stops.ts';
import { signedMembers, toSummary } from './reasoning-item.ts';

/** Position of an item, and the receiver of its events. */
export interface ItemPlace {
  readonly id: string;
  readonly index: number;
  readonly emit: (type: string, members: object) => void;
}

/** An item that grows, event by event, until it is closed. */
export abstract class OutputItem {
  readonly at: { readonly item_id: string; readonly output_index: number };
  protected readonly place: ItemPlace;

  constructor(place: ItemPlace) {
    this.place = place;
    this.at = { item_id: place.id, output_index: place.index };
  }

  /** Adds to what grows in it. */
  abstract grow(text: string): void;

  /** The item as it is at last; an incomplete one was cut off by the end of the answer. */
  abstract close(status: Ending['status']): object;

  protected announce(item: object): void {
    this.place.emit('response.output_item.added', { output_index: this.place.index, item });
  }

  protected finish(item: object): object {
    this.place.emit('response.output_item.done', { output_index: this.place.index, item });
    return item;
  }
}

type SaidType = 'output_text' | 'refusal';

/** A message, with one part for each text or refusal. */
export class MessageItem extends OutputItem {
  readonly #content: object[] = [];
  /** Characters of the texts in it. */
  readonly #lengths: number[] = [];
  #type: SaidType = 'output_text';
  #text = '';
  #annotations: object[] = [];
  #placeless: Citation[] = [];
  #logprobs: object[] = [];

  constructor(place: ItemPlace) {
    super(place);
    this.announce(this.#item('in_progress'));
  }

  /** Returns what adds a source to the part when it has ended; the finished item shows it, too. */
  beginPart(type: SaidType): (citation: Citation) => void {
    this.#type = type;
    this.#text = '';
    this.#annotations = [];
    this.#logprobs = [];
    this.#emit('content_part.added', { part: this.#part() });
    const annotations = this.#annotations;
    const content_index = this.#content.length;
    return (citation) => {
      const annotation = writeCitation(citation, this.#lengths[content_index] ?? 0);
      const annotation_index = annotations.push(annotation) - 1;
      const members = { content_index, annotation_index, annotation };
      this.place.emit('response.output_text.annotation.added', { ...this.at, ...members });
    };
  }

  grow(delta: string): void {
    this.#text += delta;
    // A literal where the spread comes first: nearly all events are such, and another order costs most of their time.
    const { item_id, output_index } = this.at;
    const place = { item_id, output_index, content_index: this.#content.length };
    if (this.#type === 'output_text')
      this.place.emit('response.output_text.delta', { ...place, delta, logprobs: [] });
    else this.place.emit('response.refusal.delta', { ...place, delta });
  }

  /** A source of the whole text is written when its length is known. */
  cite(citation: Citation): void {
    if (citation.end === undefined) this.#placeless.push(citation);
    else this.#annotate(citation);
  }

  #annotate(citation: Citation): void {
    const annotation = writeCitation(citation, this.#text.length);
    const annotation_index = this.#annotations.push(annotation) - 1;
    this.#emit('output_text.annotation.added', { annotation_index, annotation });
  }

  weigh(logprobs: readonly TokenLogprob[]): void {
    const written = writeLogprobs(logprobs);
    this.#logprobs.push(...written);
    this.#emit('output_text.delta', { delta: '', logprobs: written });
  }

  endPart(): void {
    for (const citation of this.#placeless.splice(0)) this.#annotate(citation);
    const said = this.#type === 'refusal' ? { refusal: this.#text } : { text: this.#text };
    this.#emit(`${this.#type}.done`, { ...said, ...this.#tokens(this.#logprobs) });
    this.#emit('content_part.done', { part: this.#part() });
    this.#lengths.push(this.#text.length);
    this.#content.push(this.#part(this.#annotations));
  }

  close(status: Ending['status']): object {
    return this.finish(this.#item(status));
  }

  #item(status: string): object {
    const content = [...this.#content];
    return { id: this.place.id, type: 'message', status, role: 'assistant', content };
  }

  #part(annotations = [...this.#annotations]): object {
    if (this.#type === 'refusal') return { type: 'refusal', refusal: this.#text };
    return { type: 'output_text', text: this.#text, annotations, logprobs: [...this.#logprobs] };
  }

  #tokens(logprobs: readonly object[]): object {
    return this.#type === 'output_text' ? { logprobs } : {};
  }

  #emit(name: string, members: object): void {
    const content_index = this.#content.length;
    this.place.emit(`response.${name}`, { ...this.at, content_index, ...members });
  }
}

/** Reasoning, its text as a summary. */
export class ReasoningItem extends OutputItem {
  #text = '';
  #signature: Signature | undefined;

  constructor(place: ItemPlace) {
    super(place);
    this.announce({ id: place.id, type: 'reasoning', summary: [] });
  }

  grow(delta: string): void {
    if (this.#text === '') this.#emit('part.added', { part: { type: 'summary_text', text: '' } });
    this.#text += delta;
    this.#emit('text.delta', { delta });
  }

  sign(signature: Signature): void {
    this.#signature = signature;
  }

  close(): object {
    const text = this.#text;
    if (text !== '') {
      this.#emit('text.done', { text });
      this.#emit('part.done', { part: { type: 'summary_text', text } });
    }
    return this.finish({
      id: this.place.id,
      type: 'reasoning',
      summary: toSummary(text),
      ...signedMembers(this.#signature),
    });
  }

  #emit(name: string, members: object): void {
    const type = `response.reasoning_summary_${name}`;
    this.place.emit(type, { ...this.at, summary_index: 0, ...members });
  }
}

/** A call of a function. */
export class CallItem extends OutputItem {
  readonly #call: { call_id: string; name: string };
  #arguments = '';

  constructor(place: ItemPlace, { id, name }: { id: string; name: string }) {
    super(place);
    this.#call = { call_id: id, name };
    this.announce(this.#item('in_progress'));
  }

  grow(delta: string): void {
    this.#arguments += delta;
    this.place.emit('response.function_call_arguments.delta', { ...this.at, delta });
  }

  close(status: Ending['status']): object {
    if (status === 'completed') this.#endArguments();
    return this.finish(this.#item(status));
  }

  #endArguments(): void {
    if (this.#arguments === '') this.grow('{}');
    this.place.emit('response.function_call_arguments.done', {
      ...this.at,
      name: this.#call.name,
      arguments: this.#arguments,
    });
  }

  #item(status: string): object {
    const { id } = this.place;
    return { id, type: 'function_call', status, ...this.#call, arguments: this.#arguments };
  }
}

/** A call of a custom tool. */
export class CustomCallItem extends OutputItem {
  readonly #call: { call_id: string; name: string };
  #input = '';

  constructor(place: ItemPlace, { id, name }: { id: string; name: string }) {
    super(place);
    this.#call = { call_id: id, name };
    this.announce(this.#item('in_progress'));
  }

  grow(delta: string): void {
    this.#input += delta;
    this.place.emit('response.custom_tool_call_input.delta', { ...this.at, delta });
  }

  close(status: Ending['status']): object {
    const done = { ...this.at, input: this.#input };
    if (status === 'completed') this.place.emit('response.custom_tool_call_input.done', done);
    return this.finish(this.#item(status));
  }

  #item(status: string): object {
    const { id } = this.place;
    return { id, type: 'custom_tool_call', status, ...this.#call, input: this.#input };
  }
}
