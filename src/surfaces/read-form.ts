import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.ts';
import type { Form, FormPart } from '../core/form.ts';
import { readBoundary } from '../core/form-head.ts';
import { FormScanner } from '../core/form-scanner.ts';
import type { FoundPart } from '../core/form-scanner.ts';
import type { Spool, Spools } from '../core/spool.ts';
import type { SpooledBody } from '../core/spooled-body.ts';
import { bodyTooLarge, cutOff, discardRest, refuseUnread } from './read-body.ts';

/** A form whose body takes memory or disk until it is disposed of. */
export interface ReceivedForm extends Form {
  /** Idempotent. */
  dispose(): Promise<void>;
}

export interface ReadFormOptions {
  /** Of the whole body, in bytes. */
  limit: number;
  spools: Spools;
}

/** True when the content type says that the body is a form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data(?=[ \t;]|$)/i.test(headers['content-type'] ?? '');
}

/**
 * Takes a `multipart/form-data` body in as fast as it can be spooled; no more of it than a few hundred
 * kilobytes is in memory at any time.
 *
 * @throws GatewayError `body_too_large`; `invalid_request` for a malformed body or one that the
 *   client cuts off; `persistence_failed` when there is no room for it
 */
export async function readForm(
  request: IncomingMessage,
  { limit, spools }: ReadFormOptions,
): Promise<ReceivedForm> {
  const refusal = refuseUnread(request, limit);
  if (refusal) throw refusal;
  const boundary = readBoundary(request.headers['content-type'] ?? '');
  const scanner = new FormScanner(boundary);
  const body = spools.create();
  try {
    for await (const chunk of chunksOf(request)) {
      if (body.length + chunk.length > limit) throw bodyTooLarge(limit);
      scanner.push(chunk);
      await keep(body, chunk);
    }
    const { parts, closeAt } = scanner.end();
    return {
      boundary,
      parts: await Promise.all(parts.map((part) => withText(part, body))),
      body,
      closeAt,
      dispose: () => body.dispose(),
    };
  } catch (error) {
    await body.dispose();
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

async function keep(body: Spool, chunk: Buffer): Promise<void> {
  try {
    await body.write(chunk);
  } catch (cause) {
    throw new GatewayError('persistence_failed', { cause });
  }
}

async function withText({ isText, ...part }: FoundPart, body: SpooledBody): Promise<FormPart> {
  if (!isText) return { ...part, value: undefined };
  const chunks: Buffer[] = [];
  for await (const chunk of body.open(part.start, part.end)) chunks.push(chunk);
  return { ...part, value: Buffer.concat(chunks).toString('utf8') };
}
