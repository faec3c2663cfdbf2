import { Buffer } from 'node:buffer';

export const DATA_PREFIX = 'data: ';
const EVENT_PREFIX = 'event: ';

/** The bytes of one frame, its blank line included: `text` is the latin1 view of `source`, so offsets fit both. */
export interface FrameBytes {
  readonly source: Buffer;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Content of a frame. */
interface Reading {
  readonly event?: string | undefined;
  /** The data as latin1, one character per byte, lines joined by LF; undefined without a data field. */
  readonly payload?: string | undefined;
  /** Offset of the payload in the source, where it is one line. */
  readonly payloadStart?: number | undefined;
  /** Nothing but one line of data. */
  readonly isBare?: boolean;
  /** Written as {@link formatSse} writes it. */
  readonly isPlain?: boolean;
}

/** One block of a server-sent event stream (WHATWG HTML, 9.2.6), comments included. */
export class SseFrame {
  /** The wire bytes are `source[start..end)`, as they came in. */
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  readonly event: string | undefined;
  readonly payload: string | undefined;
  readonly payloadStart: number | undefined;
  readonly isBare: boolean;
  readonly isPlain: boolean;

  constructor({ source, start, end }: Omit<FrameBytes, 'text'>, reading: Reading) {
    this.source = source;
    this.start = start;
    this.end = end;
    this.event = reading.event;
    this.payload = reading.payload;
    this.payloadStart = reading.payloadStart;
    this.isBare = reading.isBare === true;
    this.isPlain = reading.isPlain === true;
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
  const payloadStart = bytes.start + DATA_PREFIX.length;
  const payload = bytes.text.slice(payloadStart, bytes.end - 2);
  return new SseFrame(bytes, { payload, payloadStart, isBare: true, isPlain: true });
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
  const payloadStart = line + 1 + DATA_PREFIX.length;
  const payload = text.slice(payloadStart, end - 2);
  return new SseFrame(bytes, { event, payload, payloadStart, isPlain: true });
}

/** Blank lines between frames, which say nothing. */
export function toBlankFrame(bytes: Omit<FrameBytes, 'text'>): SseFrame {
  return new SseFrame(bytes, {});
}

/** Any other frame. Comments and fields that are not known say nothing. */
export function toFrame(bytes: FrameBytes): SseFrame {
  const text = bytes.text.slice(bytes.start, bytes.end);
  const data: string[] = [];
  let event: string | undefined;
  let lines = 0;
  let dataStart = 0;
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    lines++;
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'event') event = fromLatin1(value);
    if (name !== 'data') continue;
    data.push(value);
    dataStart = bytes.start + index + line.length - value.length;
  }
  return new SseFrame(bytes, {
    event,
    payload: data.length > 0 ? data.join('\n') : undefined,
    payloadStart: data.length === 1 ? dataStart : undefined,
    isBare: lines === 1 && data.length === 1,
  });
}

export interface SseEvent {
  readonly event?: string | undefined;
  readonly data: string;
  readonly id?: string | undefined;
}

/** The wire bytes of an event; data of several lines becomes several data lines. */
export function formatSse({ event, data, id }: SseEvent): Buffer {
  let text = '';
  if (event !== undefined) text += `${EVENT_PREFIX}${oneLine(event)}\n`;
  if (id !== undefined) text += `id: ${oneLine(id)}\n`;
  const lines = isOneLine(data) ? [data] : data.split(/\r\n|\r|\n/);
  for (const line of lines) text += `${DATA_PREFIX}${line}\n`;
  return Buffer.from(`${text}\n`);
}

function oneLine(value: string): string {
  return isOneLine(value) ? value : value.replace(/[\r\n]+/g, ' ');
}

function isOneLine(text: string): boolean {
  return !text.includes('\n') && !text.includes('\r');
}

const NOT_ASCII = /[\x80-\xff]/;

/** Decodes UTF-8 given as one character per byte; ASCII, the usual case, is the same text. */
function fromLatin1(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
}
