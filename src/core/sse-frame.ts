import { Buffer } from 'node:buffer';

export const DATA_PREFIX = 'data: ';
const EVENT_PREFIX = 'event: ';

/** The bytes of one frame: `text` is the latin1 view of `source`, so offsets fit both. LF line ends only. */
export interface FrameBytes {
  readonly source: Buffer;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** One block of a server-sent event stream (WHATWG HTML, 9.2.6), comments included. */
export class SseFrame {
  /** Canonical wire bytes are `source[start..end)`: what came in, where that was canonical already. */
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  readonly event: string | undefined;
  /** The data as latin1, one character per byte, lines joined by LF; undefined without a data field. */
  readonly payload: string | undefined;

  constructor(
    bytes: Omit<FrameBytes, 'text'>,
    payload: string | undefined,
    event: string | undefined,
  ) {
    this.source = bytes.source;
    this.start = bytes.start;
    this.end = bytes.end;
    this.payload = payload;
    this.event = event;
  }

  get raw(): Buffer {
    return this.source.subarray(this.start, this.end);
  }

  /** The data as text; decoded on each call. */
  get data(): string | undefined {
    return this.payload === undefined ? undefined : fromLatin1(this.payload);
  }
}

/** A frame of the one line `data: …`, the usual case. */
export function toDataFrame(bytes: FrameBytes): SseFrame {
  const payload = bytes.text.slice(bytes.start + DATA_PREFIX.length, bytes.end - 2);
  return new SseFrame(bytes, payload, undefined);
}

/** A frame of the two lines `event: …` and `data: …`, the other usual case; undefined for other frames. */
export function toNamedFrame(bytes: FrameBytes): SseFrame | undefined {
  const { text, start, end } = bytes;
  if (!text.startsWith(EVENT_PREFIX, start)) return undefined;
  const line = text.indexOf('\n', start);
  if (!text.startsWith(DATA_PREFIX, line + 1) || text.indexOf('\n', line + 1) !== end - 2)
    return undefined;
  const event = text.slice(start + EVENT_PREFIX.length, line);
  if (!/^[\w.-]+$/.test(event)) return undefined;
  return new SseFrame(bytes, text.slice(line + 1 + DATA_PREFIX.length, end - 2), event);
}

interface Fields {
  comments: string[];
  event: string | undefined;
  id: string | undefined;
  retry: string | undefined;
  data: string[];
}

/**
 * Any other frame. Its canonical form has comments first, then `event`, `id`, `retry` and `data`, a
 * blank after each colon, and no other field; input that is in that form already is not copied.
 */
export function toFrame(bytes: FrameBytes): SseFrame | undefined {
  const text = bytes.text.slice(bytes.start, bytes.end);
  const fields = readFields(text);
  const canonical = writeFields(fields);
  if (canonical === '\n') return undefined;
  const payload = fields.data.length > 0 ? fields.data.join('\n') : undefined;
  const event = fields.event === undefined ? undefined : fromLatin1(fields.event);
  if (canonical === text) return new SseFrame(bytes, payload, event);
  const source = Buffer.from(canonical, 'latin1');
  return new SseFrame({ source, start: 0, end: source.length }, payload, event);
}

function readFields(text: string): Fields {
  const fields: Fields = {
    comments: [],
    event: undefined,
    id: undefined,
    retry: undefined,
    data: [],
  };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line.charCodeAt(colon + 1) === 32 ? 2 : 1));
    if (name === '') fields.comments.push(line);
    else if (name === 'data') fields.data.push(value);
    else if (name === 'event' || name === 'id' || name === 'retry') fields[name] = value;
  }
  return fields;
}

function writeFields({ comments, event, id, retry, data }: Fields): string {
  let text = '';
  for (const comment of comments) text += `${comment}\n`;
  if (event !== undefined) text += `${EVENT_PREFIX}${event}\n`;
  if (id !== undefined) text += `id: ${id}\n`;
  if (retry !== undefined) text += `retry: ${retry}\n`;
  for (const line of data) text += `${DATA_PREFIX}${line}\n`;
  return `${text}\n`;
}

export interface SseEvent {
  readonly event?: string | undefined;
  readonly data: string;
  readonly id?: string | undefined;
}

/** The wire bytes of an event; data of several lines becomes several data lines. */
export function formatSse({ event, data, id }: SseEvent): Buffer {
  const lines = data.split(/\r\n|\r|\n/);
  return Buffer.from(
    writeFields({
      comments: [],
      event: oneLine(event),
      id: oneLine(id),
      retry: undefined,
      data: lines,
    }),
  );
}

function oneLine(value: string | undefined): string | undefined {
  return value?.replace(/[\r\n]+/g, ' ');
}

function fromLatin1(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}
