import { RawJson } from '../../../core/json/raw.ts';
import { isJsonObject, parseJsonObject } from '../../../core/json/value.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import { fromCitation, fromCitations } from './citations.ts';
import type { Members } from './members.ts';
import { fromRedacted, fromThinking } from './thinking.ts';

/** Most characters of the input of a block that is carried as it is. */
const MAX_INPUT_CHARS = 8 * 1024 * 1024;

/** One content block of a provider's stream. */
export interface StreamBlock {
  begin(): AnswerEvent[];
  /** Undefined when it grows too large. */
  add(delta: Members): AnswerEvent[] | undefined;
  end(): AnswerEvent[];
}

/** Undefined for a block that lacks what its type needs. */
export function createBlock(block: Members, part: number): StreamBlock | undefined {
  switch (block['type']) {
    case 'text':
      return new TextBlock(block, part);
    case 'thinking':
    case 'redacted_thinking':
      return new ThinkingBlock(block, part);
    case 'tool_use': {
      const { id, name } = block;
      if (typeof id !== 'string' || typeof name !== 'string' || name === '') return undefined;
      return new ToolBlock({ type: 'tool_call', id, name }, block['input'], part);
    }
    default:
      return typeof block['type'] === 'string' ? new OpaqueBlock(block, part) : undefined;
  }
}

class TextBlock implements StreamBlock {
  readonly #block: Members;
  readonly #part: number;

  constructor(block: Members, part: number) {
    this.#block = block;
    this.#part = part;
  }

  begin(): AnswerEvent[] {
    const part = this.#part;
    const { text, citations } = this.#block;
    return [
      { type: 'open', part, opening: { type: 'text' } },
      ...textDelta(part, text),
      ...fromCitations(citations).map(
        (citation) => ({ type: 'citation', part, citation }) as const,
      ),
    ];
  }

  add({ text, citation }: Members): AnswerEvent[] {
    const found = isJsonObject(citation) ? fromCitation(citation) : undefined;
    if (found) return [{ type: 'citation', part: this.#part, citation: found }];
    return textDelta(this.#part, text);
  }

  end(): AnswerEvent[] {
    return [{ type: 'close', part: this.#part }];
  }
}

/** The signature comes last, whole, and covers all of the block. */
class ThinkingBlock implements StreamBlock {
  readonly #part: number;
  #block: Members;

  constructor(block: Members, part: number) {
    this.#block = block;
    this.#part = part;
  }

  begin(): AnswerEvent[] {
    const opening: PartOpening = { type: 'reasoning' };
    const { thinking } = this.#block;
    return [{ type: 'open', part: this.#part, opening }, ...textDelta(this.#part, thinking)];
  }

  add({ thinking, signature }: Members): AnswerEvent[] {
    if (typeof signature === 'string') this.#block = { ...this.#block, signature };
    return textDelta(this.#part, thinking);
  }

  end(): AnswerEvent[] {
    const { type, data, signature: signed } = this.#block;
    const { signature } =
      type === 'thinking'
        ? fromThinking({ thinking: '', signature: signed }, '', 'provider')
        : fromRedacted({ data: typeof data === 'string' ? data : '' }, '', 'provider');
    const close: AnswerEvent = { type: 'close', part: this.#part };
    return signature ? [{ type: 'signature', part: this.#part, signature }, close] : [close];
  }
}

/** Some providers send the whole input with the start of the block, and no delta. */
class ToolBlock implements StreamBlock {
  readonly #opening: PartOpening;
  readonly #input: unknown;
  readonly #part: number;
  #isFilled = false;

  constructor(opening: PartOpening, input: unknown, part: number) {
    this.#opening = opening;
    this.#input = input;
    this.#part = part;
  }

  begin(): AnswerEvent[] {
    return [{ type: 'open', part: this.#part, opening: this.#opening }];
  }

  add({ partial_json: text }: Members): AnswerEvent[] {
    const events = textDelta(this.#part, text);
    this.#isFilled ||= events.length > 0;
    return events;
  }

  end(): AnswerEvent[] {
    const whole = this.#isFilled ? '' : inputText(this.#input);
    return [...textDelta(this.#part, whole), { type: 'close', part: this.#part }];
  }
}

/**
 * Block that is passed on when it is complete: its meaning is not known, so neither is the meaning
 * of its deltas.
 */
class OpaqueBlock implements StreamBlock {
  readonly #block: Members;
  readonly #part: number;
  #input = '';

  constructor(block: Members, part: number) {
    this.#block = block;
    this.#part = part;
  }

  begin(): AnswerEvent[] {
    return [];
  }

  add({ partial_json: text }: Members): AnswerEvent[] | undefined {
    if (typeof text === 'string') this.#input += text;
    return this.#input.length > MAX_INPUT_CHARS ? undefined : [];
  }

  end(): AnswerEvent[] {
    const input = parseJsonObject(this.#input) ? { input: new RawJson(this.#input) } : {};
    const value = { ...this.#block, ...input };
    const opening: PartOpening = { type: 'opaque', origin: 'messages', value };
    return [
      { type: 'open', part: this.#part, opening },
      { type: 'close', part: this.#part },
    ];
  }
}

function inputText(input: unknown): string {
  if (input instanceof RawJson) return input.text;
  return isJsonObject(input) ? JSON.stringify(input) : '{}';
}

function textDelta(part: number, text: unknown): AnswerEvent[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'delta', part, text }] : [];
}
