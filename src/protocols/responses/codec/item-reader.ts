import { atOnce } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import type { Part } from '../../canonical/canonical.ts';
import { readCitation, readLogprobs } from './annotations.ts';
import { objectsOf, textOf } from './fields.ts';
import type { Members } from '../../json-fields.ts';
import { readCallOpening, readOutputItem } from './read-answer.ts';
import { readSignature, reasoningText } from './reasoning-item.ts';

/** Content of a part that was passed on so far. */
interface GrowingPart {
  readonly number: number;
  hasText: boolean;
  hasLogprobs: boolean;
  hasSources: boolean;
  isOpen: boolean;
}

/** An item that was announced, with its parts by their index. */
interface GrowingItem {
  readonly parts: Map<number, GrowingPart>;
  /** Index of the summary that grows; undefined: there is none. */
  summary: number | undefined;
  isDone: boolean;
}

/** Bounds what a provider can make the gateway remember of one stream; later items are left out. */
const MAX_ITEMS = 4096;
const ANNOTATION = 'response.output_text.annotation.added';
/** Reasoning and calls are one part. */
const WHOLE = 0;

/** Turns the events of output items into parts. Providers that leave events out are understood by the item. */
export class ItemReader {
  hasCalls = false;
  readonly #items = new Map<unknown, GrowingItem>();
  #parts = 0;
  #events: AnswerEvent[] = [];

  /** At least one item was read. */
  get any(): boolean {
    return this.#items.size > 0;
  }

  read(event: Members): readonly AnswerEvent[] {
    const { type, output_index: index } = event;
    // Others, such as `keepalive`, are of no item.
    if (typeof type !== 'string' || (typeof index !== 'number' && !HANDLERS.has(type))) return [];
    const item = this.#items.get(index) ?? this.#add(index);
    if (!item.isDone) HANDLERS.get(type)?.(this, item, event);
    else if (type === ANNOTATION) this.#citeLate(item, event);
    return this.#take();
  }

  /** Returns the content of the final output that was not passed on yet, and closes all parts. */
  finish(output: unknown): readonly AnswerEvent[] {
    objectsOf(output).forEach((value, index) => {
      const item = this.#items.get(index) ?? this.#add(index);
      if (!item.isDone) this.end(item, value);
    });
    for (const { parts } of this.#items.values())
      for (const part of parts.values()) this.close(part);
    return this.#take();
  }

  begin(item: GrowingItem, index: number, opening: PartOpening): GrowingPart {
    const part = {
      number: this.#parts++,
      hasText: false,
      hasLogprobs: false,
      hasSources: false,
      isOpen: true,
    };
    item.parts.set(index, part);
    this.hasCalls ||= opening.type === 'tool_call';
    this.#events.push({ type: 'open', part: part.number, opening });
    return part;
  }

  /** The part at the index, begun when that is news. */
  at(item: GrowingItem, index: number, opening: PartOpening): GrowingPart {
    return item.parts.get(index) ?? this.begin(item, index, opening);
  }

  grow(part: GrowingPart, text: unknown): void {
    if (!part.isOpen || typeof text !== 'string' || text === '') return;
    part.hasText = true;
    this.#events.push({ type: 'delta', part: part.number, text });
  }

  weigh(part: GrowingPart, given: unknown): void {
    const logprobs = atOnce(readLogprobs(given));
    if (!part.isOpen || logprobs.length === 0) return;
    part.hasLogprobs = true;
    this.#events.push({ type: 'logprobs', part: part.number, logprobs });
  }

  cite(part: GrowingPart, annotation: unknown): void {
    const citation = isJsonObject(annotation) ? readCitation(annotation) : undefined;
    if (!part.isOpen || !citation) return;
    part.hasSources = true;
    this.#events.push({ type: 'citation', part: part.number, citation });
  }

  /** Some providers send sources after the end of the text. */
  #citeLate({ parts }: GrowingItem, event: Members): void {
    const text = parts.get(contentOf(event))?.number;
    const { annotation } = event;
    const citation = isJsonObject(annotation) ? readCitation(annotation) : undefined;
    if (text !== undefined && citation)
      this.#events.push({ type: 'late_citation', text, citation });
  }

  close(part: GrowingPart): void {
    if (part.isOpen) this.#events.push({ type: 'close', part: part.number });
    part.isOpen = false;
  }

  /** Adds the content that its own events left out, and closes it. */
  end(item: GrowingItem, value: Members): void {
    item.isDone = true;
    if (value['type'] === 'reasoning') this.#endReasoning(item, value);
    else readOutputItem(value).forEach((part, index) => this.#endPart(item, index, part));
    for (const part of item.parts.values()) this.close(part);
  }

  #endPart(item: GrowingItem, index: number, part: Part): void {
    const opening = openingOf(part);
    if (!opening) return;
    const growing = this.at(item, index, opening);
    if (!growing.hasText)
      this.grow(growing, part.type === 'tool_call' ? part.arguments : textIn(part));
    if (part.type === 'text') this.#addNotes(growing, part);
  }

  /** Adds the notes that the events of the part left out. */
  #addNotes(growing: GrowingPart, { citations = [], logprobs }: Part & { type: 'text' }): void {
    const { number: part, hasLogprobs, hasSources, isOpen } = growing;
    if (!isOpen) return;
    if (logprobs && !hasLogprobs) this.#events.push({ type: 'logprobs', part, logprobs });
    if (hasSources) return;
    for (const citation of citations) this.#events.push({ type: 'citation', part, citation });
  }

  #endReasoning(item: GrowingItem, value: Members): void {
    const part = this.at(item, WHOLE, { type: 'reasoning' });
    if (!part.hasText) this.grow(part, reasoningText(value));
    const signature = readSignature(value, 'provider');
    if (part.isOpen && signature)
      this.#events.push({ type: 'signature', part: part.number, signature });
  }

  #add(index: unknown): GrowingItem {
    const isOne = this.#items.size < MAX_ITEMS;
    const item: GrowingItem = { parts: new Map(), summary: undefined, isDone: !isOne };
    if (isOne) this.#items.set(index, item);
    return item;
  }

  #take(): readonly AnswerEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

function openingOf(part: Part): PartOpening | undefined {
  if (part.type === 'tool_call') {
    const { arguments: _arguments, ...opening } = part;
    return opening;
  }
  if (part.type === 'text' || part.type === 'refusal') return { type: part.type };
  return part.type === 'opaque' ? part : undefined;
}

function textIn(part: Part): string {
  return 'text' in part ? part.text : '';
}

type Handler = (reader: ItemReader, item: GrowingItem, event: Members) => void;

const TEXT: PartOpening = { type: 'text' };
const REFUSAL: PartOpening = { type: 'refusal' };
const REASONING: PartOpening = { type: 'reasoning' };

function contentOf({ content_index: index }: Members): number {
  return typeof index === 'number' ? index : WHOLE;
}

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['response.output_item.added', announce],
  [
    'response.output_item.done',
    (reader, item, { item: value }) => isJsonObject(value) && reader.end(item, value),
  ],
  [
    'response.output_text.delta',
    (reader, item, event) => {
      const part = reader.at(item, contentOf(event), TEXT);
      reader.grow(part, event['delta']);
      reader.weigh(part, event['logprobs']);
    },
  ],
  [
    'response.output_text.done',
    (reader, item, event) => {
      const part = reader.at(item, contentOf(event), TEXT);
      if (!part.hasText) reader.grow(part, event['text']);
      if (!part.hasLogprobs) reader.weigh(part, event['logprobs']);
    },
  ],
  [
    ANNOTATION,
    (reader, item, event) =>
      reader.cite(reader.at(item, contentOf(event), TEXT), event['annotation']),
  ],
  [
    'response.refusal.delta',
    (reader, item, event) =>
      reader.grow(reader.at(item, contentOf(event), REFUSAL), event['delta']),
  ],
  ['response.reasoning_summary_text.delta', growSummary],
  ['response.reasoning_text.delta', growReasoning],
  ['response.function_call_arguments.delta', growArguments],
  ['response.custom_tool_call_input.delta', growArguments],
]);

function announce(reader: ItemReader, item: GrowingItem, { item: value }: Members): void {
  if (!isJsonObject(value) || item.parts.size > 0) return;
  const opening = value['type'] === 'reasoning' ? REASONING : readCallOpening(value);
  // A call that is announced without its name is read when it is done.
  const isNameless = opening?.type === 'tool_call' && opening.name === '';
  if (opening && !isNameless) reader.begin(item, WHOLE, opening);
}

/** Summaries are parts of one reasoning, separated by a blank line. */
function growSummary(reader: ItemReader, item: GrowingItem, event: Members): void {
  const part = reader.at(item, WHOLE, REASONING);
  const { summary_index: index } = event;
  const now = typeof index === 'number' ? index : WHOLE;
  if (part.hasText && item.summary !== now) reader.grow(part, '\n\n');
  item.summary = now;
  reader.grow(part, event['delta']);
}

/** The reasoning itself, where there is no summary of it. */
function growReasoning(reader: ItemReader, item: GrowingItem, event: Members): void {
  const part = reader.at(item, WHOLE, REASONING);
  if (item.summary === undefined) reader.grow(part, event['delta']);
}

function growArguments(reader: ItemReader, item: GrowingItem, event: Members): void {
  const part = item.parts.get(WHOLE);
  if (part) reader.grow(part, textOf(event['delta']));
}
