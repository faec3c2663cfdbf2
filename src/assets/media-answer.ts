import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { toAttachment } from '../core/attachment.ts';
import type { CallResult, PipeableBody, ResponseHeaders } from '../inference/types.ts';
import type { Reply } from '../surfaces/http-exchange.ts';
import type { AssetRecord } from './asset-records.ts';
import type { Media } from './registrar.ts';

export interface MediaQuestion {
  readonly asset: AssetRecord;
  readonly media: Media;
  readonly headers: IncomingHttpHeaders;
  readonly method: string | undefined;
  /** Seconds for which the link still holds. */
  readonly secondsLeft: number;
}

/**
 * Media as a download, whole or in a range: nothing that a browser could take for a page of the gateway. An
 * answer that breaks off after the head breaks the connection.
 */
export function answerMedia(question: MediaQuestion): Reply | CallResult {
  const { media, headers, method } = question;
  const { length: size } = media.content;
  const common = headersOf(question);
  const { etag } = common;
  if (etag !== undefined && headers['if-none-match'] === etag)
    return { status: 304, headers: common };
  // A range of a changed file would be joined to other bytes.
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = isSame ? readRange(headers.range, size) : undefined;
  if (range === 'unsatisfiable')
    return { status: 416, headers: { ...common, 'content-range': `bytes */${size}` } };
  const { start, end }: ByteRange = range ?? { start: 0, end: size };
  const status = range ? 206 : 200;
  const told: ResponseHeaders = {
    ...common,
    'content-type': media.mediaType,
    'content-length': String(end - start),
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  };
  if (method === 'HEAD') return { status, headers: told };
  return { type: 'stream', status, headers: told, body: toBody(media, { start, end }) };
}

function headersOf({ asset, secondsLeft }: MediaQuestion): ResponseHeaders {
  const { holder, name, externalId } = asset;
  return {
    'accept-ranges': 'bytes',
    'cache-control': `private, max-age=${secondsLeft}`,
    'content-disposition': toAttachment(name ?? externalId),
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(holder.by === 'gateway' && { etag: `"${holder.digest}"` }),
  };
}

function toBody({ content }: Media, { start, end }: ByteRange): PipeableBody {
  const source = Readable.from(content.open(start, end));
  return {
    // The pipeline has destroyed both by the time it reports a failure.
    pipe: (response) => void pipeline(source, response, () => undefined),
    destroy: () => void source.destroy(),
  };
}

/** Bytes of a body; `end` is exclusive. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The range that a `Range` header asks for (RFC 9110, 14). Undefined for the whole: no header, another unit,
 * several ranges, or a malformed header. `unsatisfiable` for one that begins after the end.
 */
export function readRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  if (!match) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'unsatisfiable' : { start: size - count, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
