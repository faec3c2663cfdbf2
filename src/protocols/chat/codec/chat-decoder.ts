import { isJsonObject, parseJsonObject } from '../../../core/json/value.ts';
import type { SseFrame } from '../../../core/sse/frame.ts';
import type { StreamDecoder } from '../../canonical/codec.ts';
import type { CanonicalEvent } from '../../canonical/stream.ts';
import type { StreamFailure } from '../../protocol.ts';
import { hasReasoning, toChunkFailure, toFailure } from '../chat-chunk.ts';
import { usageOf } from '../chat-usage.ts';
import { DeltaReader } from './delta-reader.ts';
import { defined } from '../../json-fields.ts';
import type { Members } from '../../json-fields.ts';

const DONE = '[DONE]';

export function createChatDecoder(): StreamDecoder {
  return new ChatDecoder();
}

/** Reads the chunks of one choice; the gateway asks for only one. */
class ChatDecoder implements StreamDecoder {
  isThinking = false;
  readonly #deltas = new DeltaReader();
  #started = false;

  read(frame: SseFrame): readonly CanonicalEvent[] {
    const text = frame.data?.trim();
    if (frame.event === 'error') return fail(readError(text));
    if (text === undefined || text === '') return [];
    if (text === DONE) return this.#finish();
    const chunk = parseJsonObject(text);
    if (!chunk) return fail({ kind: 'malformed', message: 'an event of the provider is not JSON' });
    const failure = toChunkFailure(chunk);
    if (failure) return fail(failure);
    this.isThinking ||= hasReasoning(chunk);
    const events = this.#readChunk(chunk);
    return this.#started ? events : [...this.#start(chunk), ...events];
  }

  close(): readonly CanonicalEvent[] {
    return this.#deltas.finished
      ? [{ type: 'end' }]
      : fail({ kind: 'truncated', message: 'the stream of the provider ended early' });
  }

  #start({ id, created }: Members): readonly CanonicalEvent[] {
    this.#started = true;
    return [
      {
        type: 'start',
        id: typeof id === 'string' && id !== '' ? id : undefined,
        // Azure reports on the prompt first, in a chunk without a time.
        ...defined({ created: typeof created === 'number' && created > 0 ? created : undefined }),
      },
    ];
  }

  #readChunk(chunk: Members): readonly CanonicalEvent[] {
    const usage = usageOf(chunk);
    const choices: unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    const choice = choices.find(isFirst);
    const events = choice ? this.#deltas.read(choice) : [];
    return usage ? [...events, { type: 'usage', usage }] : events;
  }

  #finish(): readonly CanonicalEvent[] {
    if (this.#deltas.finished) return [{ type: 'end' }];
    // Some servers forget the reason; nothing at all is no answer.
    return this.#deltas.begun
      ? [...this.#deltas.finish(''), { type: 'end' }]
      : fail({ kind: 'truncated', message: 'the stream of the provider ended without an answer' });
  }
}

function isFirst(choice: unknown): choice is Members {
  return isJsonObject(choice) && (choice['index'] === 0 || choice['index'] === undefined);
}

function readError(text: string | undefined): StreamFailure {
  const told = parseJsonObject(text ?? '');
  return toFailure(told?.['error'] ?? told ?? text);
}

function fail(failure: StreamFailure): readonly CanonicalEvent[] {
  return [{ type: 'failure', failure }];
}
