import { stringifyWithRaw } from '../../../core/json/raw.ts';
import type { CassetteReply } from '../tape/cassette.ts';
import { isJsonObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { toMockError } from '../mock-error.ts';
import type { Frame, Renderer, Rendering } from './renderer.ts';

const LINE_END = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/** The pieces of a stream, one per event, and whether the connection breaks after them. */
export interface StreamPieces {
  pieces: Buffer[];
  cut: boolean;
}

/** Draws the stream of a reply with the faults that its cassette asks for. */
export function toStreamPieces(
  stream: NonNullable<Renderer['stream']>,
  rendering: Rendering,
): StreamPieces {
  const { scripted, request } = rendering;
  let frames = stream.frames(rendering);
  if (scripted.no_done) frames = frames.filter(({ kind }) => kind !== 'last');
  if (scripted.error_after !== undefined) {
    const kept = frames.slice(0, endOfContent(frames, scripted.error_after));
    const error = toMockError(scripted.status ?? 500, scripted.error);
    frames = [...kept, stream.error(error, kept.length)];
  }
  const cutAfter = scripted.cut_before === 'first_content' ? 0 : scripted.cut_after;
  if (cutAfter !== undefined) frames = frames.slice(0, endOfContent(frames, cutAfter));
  const texts = toTexts(frames, scripted);
  const pieces = request.sse
    ? texts.map((text, i) => toEvent(frames[i]?.event, text, scripted))
    : toArray(texts, cutAfter === undefined);
  return { pieces: pieces.map((text) => Buffer.from(text)), cut: cutAfter !== undefined };
}

/** Index after the nth content frame: the first one for 0, the last one when there are fewer. */
function endOfContent(frames: readonly Frame[], count: number): number {
  let seen = 0;
  let end = frames.findIndex(({ kind }) => kind === 'content');
  if (end < 0) return 0;
  for (const [i, { kind }] of frames.entries()) {
    if (kind !== 'content' || seen === count) continue;
    seen++;
    end = i + 1;
  }
  return end;
}

function toTexts(frames: readonly Frame[], scripted: CassetteReply): string[] {
  const broken = scripted.malformed
    ? Math.max(
        frames.findLastIndex(({ kind }) => kind === 'content'),
        0,
      )
    : -1;
  return frames.map(({ data }, i) => {
    if (data === '[DONE]') return data;
    const text = stringifyWithRaw(withPrivateFields(data, scripted.private_fields));
    return i === broken ? text.slice(0, Math.ceil(text.length / 2)) : text;
  });
}

/** Responses keeps the object that a provider may extend one level down. */
export function withPrivateFields(data: JsonObject, fields: JsonObject | undefined): JsonObject {
  if (!fields) return data;
  const inner = isJsonObject(data.response) ? { response: { ...data.response, ...fields } } : {};
  return { ...data, ...inner, ...fields };
}

function toEvent(
  event: string | undefined,
  text: string,
  { framing = 'lf' }: CassetteReply,
): string {
  const end = LINE_END[framing];
  return `${event === undefined ? '' : `event: ${event}${end}`}data: ${text}${end}${end}`;
}

function toArray(texts: readonly string[], closed: boolean): string[] {
  const elements = texts.map((text, i) => (i === 0 ? `[${text}` : `,\r\n${text}`));
  return closed ? [...elements, elements.length > 0 ? ']' : '[]'] : elements;
}
