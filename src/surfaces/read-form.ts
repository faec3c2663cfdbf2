import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MAX_FORM_TEXT_BYTES } from '../core/form.ts';
import type { Form } from '../core/form.ts';
import { SPOOL_MEMORY_BYTES } from '../core/memory/spool.ts';
import type { Spools } from '../core/memory/spool.ts';
import {
  bodyTooLarge,
  cutOff,
  declaredLength,
  discardRest,
  refuseCoded,
  refuseUnread,
} from './bodies/refuse-body.ts';
import type { BodyBounds, BodySource } from './read-body.ts';

/** A form whose files take memory or disk until it is disposed of. */
export interface ReceivedForm extends Form {
  /** Idempotent. */
  dispose(): Promise<void>;
}

export interface ReadFormOptions extends BodyBounds {
  spools: Spools;
  /** {@link Form.boundary}: what the client cannot have known when it sent the body. */
  boundary: string;
}

/** Memory that a form takes at most while it is read and kept; the rest of its files is on disk. */
const MAX_MEMORY_BYTES = SPOOL_MEMORY_BYTES + MAX_FORM_TEXT_BYTES;

/** True when the content type says that the body is a form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data(?=[ \t;]|$)/i.test(headers['content-type'] ?? '');
}

/**
 * Takes a `multipart/form-data` body in as fast as its files can be spooled; no more of them than a
 * few hundred kilobytes is in memory at any time.
 *
 * @throws GatewayError `body_too_large`, also for more than a megabyte of text; `coded_body` for one
 *   in a content coding; `no_room_for_body`; `invalid_request` for a malformed body, more than 256
 *   parts, or a body that the client cuts off; `persistence_failed` when there is no room for it on disk
 */
export async function readForm(
  { request, intake }: BodySource,
  { limit, holder, spools, boundary }: ReadFormOptions,
): Promise<ReceivedForm> {
  const refusal = refuseUnread(request, limit) ?? refuseCoded(request);
  if (refusal) throw refusal;
  const spool = spools.create();
  try {
    const bytes = Math.min(declaredLength(request) ?? limit, MAX_MEMORY_BYTES);
    const room = intake.reserve(holder, bytes);
    if (room) await room;
    intake.invite();
    const { FormReader } = await import('./form-reader.ts');
    const reader = new FormReader(request.headers['content-type'] ?? '', spool);
    let length = 0;
    for await (const chunk of chunksOf(request)) {
      length += chunk.length;
      if (length > limit) throw bodyTooLarge(limit);
      await reader.write(chunk);
    }
    return { boundary, parts: await reader.end(), dispose: () => spool.dispose() };
  } catch (error) {
    await spool.dispose();
    throw discardRest(request, error);
  }
}

/** Leaves the request open, so that a refusal can be answered. */
async function* chunksOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw cutOff(error);
  }
}
