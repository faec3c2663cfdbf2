import { Buffer } from 'node:buffer';
import { parseObjectKeepingDigits } from '../../core/json/digits.ts';
import { scanJson } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';
import { isJsonObject, parseJsonObject } from '../../core/json/value.ts';
import type { SseBatch } from '../../core/sse/batch.ts';
import { formatSse } from '../../core/sse/frame.ts';
import type { SseFrame } from '../../core/sse/frame.ts';
import { EventStream } from '../event-stream.ts';
import { rewriteModelName } from '../model-member.ts';
import type { ProviderWork, StreamOptions, StreamReader } from '../protocol.ts';
import { isRunning, isTerminal, toInteraction } from './interaction.ts';
import { commits, isCompletion, opensThought, toStreamFailure } from './interactions-event.ts';
import { measureOutput } from './interactions-output.ts';
import { toInteractionUsage } from './interactions-usage.ts';

const DONE = '[DONE]';
const NOT_JSON = 'an event of the provider is not a JSON object';

/**
 * Reads a stream of Interactions. Forwards events unchanged, known or not, in their order, except
 * the provider's `error`, which the gateway replaces by its own.
 */
export function createInteractionsStream(options: StreamOptions): StreamReader {
  return new InteractionsStream(options);
}

class InteractionsStream extends EventStream {
  work: ProviderWork | undefined;
  readonly #options: StreamOptions;
  #completed = false;

  constructor(options: StreamOptions) {
    super();
    this.#options = options;
  }

  protected read(frame: SseFrame, out: SseBatch): void {
    const text = frame.payload?.trim() ?? '';
    if (text === DONE) this.#finish(frame, out);
    else if (text === '') out.add(frame);
    else this.#readEvent(frame, out);
  }

  protected close(): void {
    // A status that is no longer running says the same as the completion that is missing then.
    this.#completed ||= this.work !== undefined && !isRunning(this.work.status);
    if (this.#completed) this.ended = true;
    else this.fail('truncated', 'the stream of the provider ended early');
  }

  protected isWhole(frame: SseFrame): boolean {
    return frame.payload?.trim() === DONE || parseJsonObject(frame.data ?? '') !== undefined;
  }

  #finish(frame: SseFrame, out: SseBatch): void {
    this.close();
    if (this.ended) out.add(frame);
  }

  #readEvent(frame: SseFrame, out: SseBatch): void {
    const value = parseJsonObject(frame.data ?? '');
    if (!value) return this.fail('malformed', NOT_JSON);
    const type = typeof value['event_type'] === 'string' ? value['event_type'] : frame.event;
    if (type === 'error') {
      this.failure = toStreamFailure(value['error']);
      return;
    }
    this.#note(value, frame);
    this.#completed ||= isCompletion(type);
    this.contentSeen ||= commits(type, value);
    this.thinking ||= opensThought(type, value);
    this.outputChars += measureOutput(value['delta']);
    this.#forward(frame, value, out);
  }

  #note(value: Readonly<Record<string, unknown>>, { data = '' }: SseFrame): void {
    const { interaction, interaction_id: id, status } = value;
    const said = toInteraction(interaction) ?? toInteraction({ id, status });
    // The last one is kept, and its arguments go out again with the next request.
    const last = said && isTerminal(said.status) ? parseObjectKeepingDigits(data) : undefined;
    this.work = toInteraction(last?.['interaction']) ?? said ?? this.work;
    const usage = isJsonObject(interaction) ? interaction['usage'] : undefined;
    this.usage = toInteractionUsage(usage ?? value['usage']) ?? this.usage;
  }

  #forward(
    frame: SseFrame,
    { interaction }: Readonly<Record<string, unknown>>,
    out: SseBatch,
  ): void {
    const { logicalModel } = this.#options;
    if (logicalModel === undefined || !isJsonObject(interaction) || !('model' in interaction))
      return out.add(frame);
    const data = Buffer.from(frame.payload ?? '', 'latin1');
    try {
      out.addBytes(formatSse({ event: frame.event, data: rename(data, logicalModel) }));
    } catch {
      this.fail('malformed', NOT_JSON);
    }
  }
}

/** The event with another model name in its Interaction, the rest as it was. */
function rename(event: Buffer, model: string): string {
  const { members } = scanJson(event);
  const edits = members
    .filter(({ key }) => key === 'interaction')
    .map(({ key, valueStart, valueEnd }) => {
      const json = rewriteModelName(event.subarray(valueStart, valueEnd), model).toString('utf8');
      return { op: 'set', key, json } as const;
    });
  return spliceJson(event, members, edits).toString('utf8');
}
