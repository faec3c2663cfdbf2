import { isJsonObject, parseJsonObject } from '../../../core/json/value.ts';
import type { SseFrame } from '../../../core/sse/frame.ts';
import type { StreamDecoder } from '../../canonical/codec.ts';
import type { CanonicalEvent } from '../../canonical/stream.ts';
import type { StreamFailure } from '../../protocol.ts';
import { toResponsesFailure } from '../responses-failure.ts';
import { isBlank } from '../responses-output.ts';
import { usageOfResponse } from '../responses-usage.ts';
import type { Members } from '../../json-fields.ts';
import { ItemReader } from './item-reader.ts';
import { readStop } from './stops.ts';

export function createResponsesDecoder(): StreamDecoder {
  return new ResponsesDecoder();
}

const BEGINNING: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
]);

/** Reads a Responses stream event by event; items of tools that the provider runs come whole. */
class ResponsesDecoder implements StreamDecoder {
  readonly #items = new ItemReader();
  #isStarted = false;

  read(frame: SseFrame): readonly CanonicalEvent[] {
    const text = frame.data?.trim();
    if (!text || text === '[DONE]') return [];
    const event = parseJsonObject(text);
    if (!event) return fail('malformed', 'an event of the provider is not a JSON object');
    const { type, response, error } = event;
    if (type === 'error' || frame.event === 'error')
      return failure(toResponsesFailure(error ?? event));
    if (type === undefined && isJsonObject(error)) return failure(toResponsesFailure(error));
    if (!isJsonObject(response)) return this.#items.read(event);
    if (BEGINNING.has(type)) return this.#start(response);
    if (type === 'response.failed') return failure(toResponsesFailure(response['error']));
    const isLast = type === 'response.completed' || type === 'response.incomplete';
    return isLast ? this.#finish(response) : [];
  }

  close(): readonly CanonicalEvent[] {
    return fail('truncated', 'the stream of the provider ended early');
  }

  #start({ id, created_at: created }: Members): readonly CanonicalEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    return [
      {
        type: 'start',
        id: typeof id === 'string' && id !== '' ? id : undefined,
        ...(typeof created === 'number' && { created }),
      },
    ];
  }

  #finish(response: Members): readonly CanonicalEvent[] {
    const parts = this.#items.finish(response['output']);
    const counted = usageOfResponse(response);
    const usage = counted ? [{ type: 'usage' as const, usage: counted }] : [];
    if (isBlank(response) && !this.#items.any)
      return [...usage, ...fail('truncated', 'the stream of the provider ended without an answer')];
    const stop = readStop(response, this.#items.hasCalls);
    if (!stop) return fail('malformed', 'the provider ended with an unfinished response');
    return [
      ...this.#start(response),
      ...parts,
      { type: 'finish', stop },
      ...usage,
      { type: 'end' },
    ];
  }
}

function fail(kind: StreamFailure['kind'], message: string): readonly CanonicalEvent[] {
  return failure({ kind, message });
}

function failure(told: StreamFailure): readonly CanonicalEvent[] {
  return [{ type: 'failure', failure: told }];
}
