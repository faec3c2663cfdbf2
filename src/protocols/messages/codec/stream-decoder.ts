import { parseKeepingRaw } from '../../../core/json/raw.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { SseFrame } from '../../../core/sse/frame.ts';
import type { StreamDecoder } from '../../canonical/codec.ts';
import type { AnswerEvent, CanonicalEvent } from '../../canonical/stream.ts';
import type { StreamFailure } from '../../protocol.ts';
import { isSameMessage, isStopped } from '../messages-event.ts';
import { toMessagesFailure } from '../messages-failure.ts';
import { joinMessagesUsage, toMessagesUsage } from '../messages-usage.ts';
import type { Members } from './members.ts';
import { fromCitation } from './citations.ts';
import { fromStopReason, refusalOf } from './stop-reasons.ts';
import { createBlock } from './stream-block.ts';
import type { StreamBlock } from './stream-block.ts';

/** Reads a provider's stream. Blocks keep the order in which they begin, whatever their numbers. */
export function createMessagesDecoder(): StreamDecoder {
  return new MessagesDecoder();
}

/** Bounds what a provider can make the gateway remember of one stream. */
const MAX_TEXTS = 4096;

class MessagesDecoder implements StreamDecoder {
  readonly #blocks = new Map<unknown, StreamBlock>();
  /** The parts of texts by the indexes of their blocks. */
  readonly #texts = new Map<unknown, number>();
  #parts = 0;
  #isStarted = false;
  #isFinished = false;
  #hasCalls = false;
  #told: Members | undefined;
  /** The message as it began; some begin with content, and with why it ends. */
  #message: Members = {};

  read(frame: SseFrame): readonly CanonicalEvent[] {
    if (frame.payload === undefined || frame.payload.trim() === '') return [];
    const event = parse(frame.data ?? '');
    if (!event) {
      // Gateways that speak several protocols end all alike; another event marks the end here.
      return frame.payload.trim() === '[DONE]' ? [] : malformed('is not JSON');
    }
    const type = typeof event['type'] === 'string' ? event['type'] : frame.event;
    return HANDLERS.get(type)?.call(this, event) ?? [];
  }

  close(): readonly CanonicalEvent[] {
    if (this.#isFinished) return [{ type: 'end' }];
    if (isStopped(this.#message)) return [...this.#finish(this.#message), { type: 'end' }];
    return failure({ kind: 'truncated', message: 'the stream of the provider ended early' });
  }

  start({ message }: Members): CanonicalEvent[] {
    if (!isJsonObject(message)) return [];
    if (!this.#isStarted) return this.#begin(message);
    if (isSameMessage(this.#message, message)) return [];
    this.#blocks.clear();
    this.#texts.clear();
    this.#isFinished = false;
    this.#hasCalls = false;
    this.#told = undefined;
    return [{ type: 'restart' }, ...this.#begin(message)];
  }

  openBlock({ index, content_block: value }: Members): CanonicalEvent[] {
    if (this.#isFinished) return [];
    const ended = this.#closeBlock(index);
    const block = this.#createBlock(value);
    if (!block) return malformed('has no proper content block');
    this.#blocks.set(index, block);
    if (isText(value) && this.#texts.size < MAX_TEXTS) this.#texts.set(index, this.#parts - 1);
    return [...ended, ...block.begin()];
  }

  fillBlock({ index, delta }: Members): CanonicalEvent[] {
    if (this.#isFinished) return [];
    const block = this.#blocks.get(index);
    const late = block ? undefined : this.#citeLate(index, delta);
    if (late) return late;
    if (!block || !isJsonObject(delta)) return malformed('goes on with nothing that had begun');
    return block.add(delta) ?? failure({ kind: 'too_large', message: 'a block is too large' });
  }

  stopBlock({ index }: Members): CanonicalEvent[] {
    return this.#isFinished ? [] : this.#closeBlock(index);
  }

  finish({ delta, usage }: Members): CanonicalEvent[] {
    const counted = this.#count(usage);
    const events: CanonicalEvent[] = counted ? [{ type: 'usage', usage: counted }] : [];
    if (!isJsonObject(delta) || typeof delta['stop_reason'] !== 'string') return events;
    return [...events, ...this.#finish(delta)];
  }

  end(): CanonicalEvent[] {
    // Blocks without a stop reason are still an answer; a stream without both is none.
    const isAnswer = this.#parts > 0 || isStopped(this.#message);
    const untold = !this.#isFinished && isAnswer ? this.#finish(this.#message) : [];
    return [...untold, { type: 'end' }];
  }

  fail(event: Members): CanonicalEvent[] {
    return failure(toMessagesFailure(event));
  }

  #begin(message: Members): CanonicalEvent[] {
    this.#isStarted = true;
    this.#message = message;
    const { id, usage, content } = message;
    const counted = this.#count(usage);
    const start: CanonicalEvent = {
      type: 'start',
      id: typeof id === 'string' ? id : undefined,
      ...(counted && { usage: counted }),
    };
    const events: CanonicalEvent[] = [start];
    for (const one of Array.isArray(content) ? content : []) {
      const block = this.#createBlock(one);
      if (!block) return malformed('has no proper content block');
      events.push(...block.begin(), ...block.end());
    }
    return events;
  }

  /** A source of a text that has ended; undefined for anything else. */
  #citeLate(index: unknown, delta: unknown): CanonicalEvent[] | undefined {
    const text = this.#texts.get(index);
    if (text === undefined || !isJsonObject(delta)) return undefined;
    const { type, citation } = delta;
    if (type !== 'citations_delta' || !isJsonObject(citation)) return undefined;
    const found = fromCitation(citation);
    return found ? [{ type: 'late_citation', text, citation: found }] : [];
  }

  #createBlock(value: unknown): StreamBlock | undefined {
    if (!isJsonObject(value)) return undefined;
    this.#hasCalls ||= value['type'] === 'tool_use';
    return createBlock(value, this.#parts++);
  }

  #finish(delta: Members): AnswerEvent[] {
    if (this.#isFinished) return [];
    this.#isFinished = true;
    const stop = fromStopReason(delta, this.#hasCalls);
    const open = [...this.#blocks.keys()].flatMap((index) => this.#closeBlock(index));
    return [...open, ...this.#refuse(delta), { type: 'finish', stop }];
  }

  #refuse(delta: Members): AnswerEvent[] {
    const text = refusalOf(delta);
    if (text === undefined) return [];
    const part = this.#parts++;
    return [
      { type: 'open', part, opening: { type: 'refusal' } },
      { type: 'delta', part, text },
      { type: 'close', part },
    ];
  }

  #closeBlock(index: unknown): AnswerEvent[] {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    return block?.end() ?? [];
  }

  #count(usage: unknown): ReturnType<typeof toMessagesUsage> {
    if (!isJsonObject(usage)) return undefined;
    this.#told = joinMessagesUsage(this.#told, usage);
    return toMessagesUsage(this.#told);
  }
}

type Handler = (this: MessagesDecoder, event: Members) => CanonicalEvent[];

const HANDLERS: ReadonlyMap<unknown, Handler> = new Map<unknown, Handler>([
  ['message_start', MessagesDecoder.prototype.start],
  ['content_block_start', MessagesDecoder.prototype.openBlock],
  ['content_block_delta', MessagesDecoder.prototype.fillBlock],
  ['content_block_stop', MessagesDecoder.prototype.stopBlock],
  ['message_delta', MessagesDecoder.prototype.finish],
  ['message_stop', MessagesDecoder.prototype.end],
  ['error', MessagesDecoder.prototype.fail],
]);

function isText(block: unknown): boolean {
  return isJsonObject(block) && block['type'] === 'text';
}

function parse(data: string): Members | undefined {
  try {
    const value = parseKeepingRaw(data, ['input']);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function malformed(what: string): CanonicalEvent[] {
  return failure({ kind: 'malformed', message: `an event of the provider ${what}` });
}

function failure(failure: StreamFailure): CanonicalEvent[] {
  return [{ type: 'failure', failure }];
}
