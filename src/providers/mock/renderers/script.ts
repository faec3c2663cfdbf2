import { stringifyWithRaw } from '../../../core/json/raw.ts';
import type { CassetteReply } from '../tape/cassette.ts';
import { toStreamPieces, withPrivateFields } from './frames.ts';
import type { StreamPieces } from './frames.ts';
import { toMockError } from '../mock-error.ts';
import type { MockStep, PlainScript } from '../tape/mock-script.ts';
import type { Renderer, Rendering } from './renderer.ts';
import { splitBytes } from '../split.ts';

/** Bounds what a large body in tiny pieces can cost. */
const MAX_PIECES = 65_536;

interface Content extends StreamPieces {
  status: number;
  contentType: string;
  /** Bytes of the body that the head announces; undefined for a stream. */
  length: number | undefined;
}

/** Everything that a player needs to answer `rendering`, faults included. */
export function toScript(renderer: Renderer, rendering: Rendering): PlainScript {
  const { scripted } = rendering;
  const content = toContent(renderer, rendering);
  const coded = scripted.encoding !== undefined;
  return {
    delayMs: scripted.delay_ms ?? 0,
    cutBeforeHead: scripted.cut_before === 'head',
    status: content.status,
    headers: {
      'content-type': content.contentType,
      ...(content.length !== undefined && !coded && { 'content-length': String(content.length) }),
      'x-request-id': `req_${rendering.id}`,
      ...(scripted.retry_after !== undefined && { 'retry-after': String(scripted.retry_after) }),
      ...lowerCaseNames(scripted.headers),
    },
    encoding: scripted.encoding,
    steps: toSteps(content, scripted),
  };
}

function toContent(renderer: Renderer, rendering: Rendering): Content {
  const { scripted, request } = rendering;
  const status = toStatus(rendering, renderer);
  if (scripted.raw !== undefined) return toRawContent(scripted, status);
  if (status >= 400) {
    const body = renderer.error(toMockError(status, scripted.error));
    return toJsonContent(
      stringifyWithRaw(withPrivateFields(body, scripted.private_fields)),
      status,
      scripted,
    );
  }
  if (request.stream && renderer.stream) {
    const contentType = request.sse ? 'text/event-stream' : 'application/json';
    return {
      status,
      contentType,
      length: undefined,
      ...toStreamPieces(renderer.stream, rendering),
    };
  }
  const body = withPrivateFields(renderer.body(rendering), scripted.private_fields);
  return toJsonContent(stringifyWithRaw(body), status, scripted);
}

/** An error without a status is a 500, unless a stream or a background task reports it later. */
function toStatus({ scripted, request }: Rendering, renderer: Renderer): number {
  const { status, error, error_after: errorAfter } = scripted;
  const inStream = errorAfter !== undefined && request.stream && renderer.stream !== undefined;
  if (inStream) return 200;
  return status ?? (error || errorAfter !== undefined ? 500 : 200);
}

function toJsonContent(text: string, status: number, scripted: CassetteReply): Content {
  const whole = Buffer.from(scripted.malformed ? text.slice(0, Math.ceil(text.length / 2)) : text);
  const cutAfter = scripted.cut_before === 'first_content' ? 0 : scripted.cut_after;
  const kept =
    cutAfter === undefined ? whole.length : cutAfter === 0 ? 0 : Math.ceil(whole.length / 2);
  return {
    status,
    contentType: 'application/json',
    length: whole.length,
    pieces: kept === 0 ? [] : [whole.subarray(0, kept)],
    cut: cutAfter !== undefined,
  };
}

function toRawContent(scripted: CassetteReply, status: number): Content {
  const { body, base64, content_type: contentType } = toRaw(scripted.raw);
  const all = [body].flat().map((text) => Buffer.from(text, base64 ? 'base64' : 'utf8'));
  const cutAfter = scripted.cut_before === 'first_content' ? 0 : scripted.cut_after;
  return {
    status,
    contentType,
    length: contentType.startsWith('text/event-stream')
      ? undefined
      : all.reduce((sum, piece) => sum + piece.length, 0),
    pieces: all.slice(0, cutAfter),
    cut: cutAfter !== undefined,
  };
}

function toRaw(raw: CassetteReply['raw']): Exclude<NonNullable<CassetteReply['raw']>, string> {
  return typeof raw === 'object'
    ? raw
    : { body: raw ?? '', base64: false, content_type: 'application/json' };
}

function toSteps({ pieces, cut }: Content, scripted: CassetteReply): MockStep[] {
  const { split_bytes: size, cut_after_bytes: limit, chunk_delay_ms: delayMs = 0 } = scripted;
  let bytes = pieces.filter((piece) => piece.length > 0);
  if (limit !== undefined) bytes = takeBytes(bytes, limit);
  if (size !== undefined) bytes = splitBytes(Buffer.concat(bytes), size, MAX_PIECES);
  const steps: MockStep[] = bytes.map((piece) => ({ delayMs, bytes: piece }));
  return cut || limit !== undefined ? [...steps, { cut: true }] : steps;
}

function takeBytes(pieces: readonly Buffer[], limit: number): Buffer[] {
  const taken: Buffer[] = [];
  let left = limit;
  for (const piece of pieces) {
    if (left === 0) break;
    taken.push(piece.subarray(0, left));
    left -= Math.min(left, piece.length);
  }
  return taken;
}

function lowerCaseNames(headers: CassetteReply['headers'] = {}): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
