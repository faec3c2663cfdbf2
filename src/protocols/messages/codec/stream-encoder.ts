import { Buffer } from 'node:buffer';
import { stringifyWithRaw } from '../../../core/json/raw.ts';
import { formatSse } from '../../../core/sse/frame.ts';
import { NO_USAGE } from '../../../core/usage.ts';
import type { Usage } from '../../../core/usage.ts';
import type { AnswerContext, StreamEncoder } from '../../canonical/codec.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import type { Citation, Signature, Stop } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { toCitation } from './citations.ts';
import type { Members } from './members.ts';
import { toStopReason } from './stop-reasons.ts';
import { toClientThinking } from './thinking.ts';
import { toAnswerBlock } from './to-block.ts';
import { toUsageObject } from './usage-object.ts';

type EventOf<T extends AnswerEvent['type']> = Extract<AnswerEvent, { type: T }>;

/**
 * Writes an answer as the events of the protocol: `message_start`, the blocks one by one,
 * `message_delta` with the reason to stop and the usage, `message_stop` (requirement
 * messages.stream.order).
 */
export function createMessagesEncoder(context: AnswerContext): StreamEncoder {
  return new MessagesEncoder(context);
}

/** Types of deltas, and their members for the text, by the parts that they add to. */
const DELTAS = {
  text: ['text_delta', 'text'],
  refusal: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  tool_call: ['input_json_delta', 'partial_json'],
} as const;

/** The open block: its opening, and whether its start and content were sent. */
interface Block {
  readonly opening: PartOpening;
  isStarted: boolean;
  isFilled: boolean;
}

class MessagesEncoder implements StreamEncoder {
  readonly losses = new Set<Feature>();
  readonly #context: AnswerContext;
  #isStarted = false;
  #index = 0;
  #block: Block | undefined;
  /** The indexes of texts by the numbers of their parts. */
  readonly #texts = new Map<number, number>();
  /** The types of the parts so far. */
  readonly #said = new Set<PartOpening['type']>();
  #stop: Stop = { kind: 'end' };
  #usage: Usage | undefined;
  #frames: Buffer[] = [];

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  write(event: AnswerEvent): Buffer | undefined {
    this.#take(event);
    const frames = this.#frames;
    if (frames.length === 0) return undefined;
    this.#frames = [];
    return frames.length === 1 ? frames[0] : Buffer.concat(frames);
  }

  #take(event: AnswerEvent): void {
    switch (event.type) {
      case 'start':
        return this.#start(event);
      case 'open':
        return this.#open(event.part, event.opening);
      case 'delta':
        return this.#delta(event.text);
      case 'signature':
        return this.#sign(event.signature);
      case 'citation':
        return this.#fill({ type: 'citations_delta', citation: toCitation(event.citation) });
      case 'late_citation':
        return this.#citeLate(event.text, event.citation);
      case 'logprobs':
        this.losses.add('logprobs');
        return;
      case 'close':
        return this.#close();
      case 'finish':
        this.#stop = event.stop;
        return;
      case 'usage':
        this.#usage = event.usage;
        return;
      case 'end':
        return this.#end();
    }
  }

  #start({ id, usage }: Partial<EventOf<'start'>>): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#usage = usage;
    const message = {
      id: id ?? this.#context.id,
      type: 'message',
      role: 'assistant',
      model: this.#context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toUsageObject({ ...(usage ?? NO_USAGE), output: 0, reasoning: 0 }),
    };
    this.#tell({ type: 'message_start', message });
  }

  #open(part: number, opening: PartOpening): void {
    this.#start({});
    if (opening.type === 'text') this.#texts.set(part, this.#index);
    this.#block = { opening, isStarted: false, isFilled: false };
    this.#said.add(opening.type);
    if (opening.type === 'tool_call') {
      const { id, name } = opening;
      this.#begin({ type: 'tool_use', id, name, input: {} });
    } else if (opening.type === 'opaque' || opening.type === 'image') {
      const block = toAnswerBlock(opening, this.losses);
      if (block) this.#begin(block);
    } else if (opening.type === 'refusal') this.losses.add('refusals');
  }

  #delta(text: string): void {
    const type = this.#block?.opening.type;
    if (text === '' || type === undefined || type === 'opaque' || type === 'image') return;
    if (!this.#beginFill()) return;
    const [name, member] = DELTAS[type];
    this.#write(`{"type":"${name}","${member}":${JSON.stringify(text)}}`);
  }

  /** Reasoning without a text may be sent as one block without deltas. */
  #sign(signature: Signature): void {
    const { opening, isStarted } = this.#block ?? {};
    if (opening?.type !== 'reasoning') return;
    const whole = toClientThinking({ ...opening, text: '', signature });
    if (!whole) return;
    if (!isStarted && whole['type'] === 'redacted_thinking') this.#begin(whole);
    else this.#fill({ type: 'signature_delta', signature: whole['signature'] });
  }

  #fill(delta: Members): void {
    if (this.#beginFill()) this.#write(JSON.stringify(delta));
  }

  /** Begins the open block for clients, before it is filled; false when none is open. */
  #beginFill(): boolean {
    if (!this.#block) return false;
    if (!this.#block.isStarted) this.#begin(emptyBlock(this.#block.opening));
    this.#block.isFilled = true;
    return true;
  }

  #write(delta: string, index = this.#index): void {
    const data = `{"type":"content_block_delta","index":${index},"delta":${delta}}`;
    this.#frames.push(formatSse({ event: 'content_block_delta', data }));
  }

  /** Clients find the block by its index; later blocks have begun by now. */
  #citeLate(text: number, citation: Citation): void {
    const index = this.#texts.get(text);
    if (index === undefined) return;
    const delta = { type: 'citations_delta', citation: toCitation(citation) };
    this.#write(JSON.stringify(delta), index);
  }

  #begin(content_block: Members): void {
    if (this.#block) this.#block.isStarted = true;
    this.#tell({ type: 'content_block_start', index: this.#index, content_block });
  }

  #close(): void {
    const block = this.#block;
    if (!block) return;
    if (block.opening.type === 'tool_call' && !block.isFilled)
      this.#fill({ type: 'input_json_delta', partial_json: '{}' });
    this.#block = undefined;
    if (!block.isStarted) return;
    this.#tell({ type: 'content_block_stop', index: this.#index });
    this.#index++;
  }

  #tell(event: Members): void {
    this.#frames.push(toFrame(event));
  }

  #end(): void {
    this.#start({});
    this.#close();
    const delta = toStopReason(this.#stop, this.#said);
    this.#tell({ type: 'message_delta', delta, usage: toUsageObject(this.#usage) });
    this.#tell({ type: 'message_stop' });
  }
}

function toFrame(event: Members): Buffer {
  const { type } = event;
  // Blocks that are carried as they are may hold text that must not be parsed.
  const data = type === 'content_block_start' ? stringifyWithRaw(event) : JSON.stringify(event);
  return formatSse({ event: type as string, data });
}

function emptyBlock({ type }: PartOpening): Members {
  return type === 'reasoning'
    ? { type: 'thinking', thinking: '', signature: '' }
    : { type: 'text', text: '' };
}
