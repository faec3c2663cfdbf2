import { Buffer } from 'node:buffer';
import { GatewayError } from './errors.ts';
import type { FormPart } from './form.ts';
import { malformed, parseFormHead } from './form-head.ts';
import type { FormHead } from './form-head.ts';

/** Of one form. */
const MAX_FORM_PARTS = 256;
/** Of the texts of one form together. */
const MAX_FORM_TEXT_BYTES = 1024 * 1024;
const MAX_HEAD_BYTES = 16 * 1024;

const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const DASHES = Buffer.from('--');
const EMPTY = Buffer.alloc(0);
const TEXT_TYPE = /^(?:text\/|application\/json\b)/i;

type State = 'opening' | 'delimiter' | 'head' | 'content' | 'closed';

/** A part whose text, if it is one, has not been read. */
export interface FoundPart extends Omit<FormPart, 'value'> {
  readonly isText: boolean;
}

/**
 * Finds the parts of a `multipart/form-data` body (RFC 7578) as it arrives, with their places. It is
 * stricter than the RFC where parsers differ, because what it reads decides about a body that
 * another parser reads after it: the boundary occurs nowhere but in delimiters, there is nothing in
 * front of the first and behind the last one, and lines end in CR LF.
 *
 * Throws `invalid_request` for a malformed body or too many parts, `body_too_large` for too much text.
 */
export class FormScanner {
  readonly #parts: FoundPart[] = [];
  readonly #needle: Buffer;
  #state: State = 'opening';
  /** What has arrived and is not done with, and where in the body it begins. */
  #pending: Buffer = EMPTY;
  #offset = 0;
  #delimiterAt = 0;
  #part: Omit<FoundPart, 'end'> | undefined;
  #textBytes = 0;

  constructor(boundary: string) {
    this.#needle = Buffer.from(`--${boundary}`, 'latin1');
  }

  push(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#step());
  }

  /** The body is over. */
  end(): { parts: readonly FoundPart[]; closeAt: number } {
    if (this.#state !== 'closed') throw malformed('its end, which is missing,');
    const rest = this.#pending;
    if (rest.length > 0 && !rest.equals(CRLF)) throw malformed('what follows its end');
    return { parts: this.#parts, closeAt: this.#delimiterAt };
  }

  /** False when more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'opening':
        return this.#takeOpening();
      case 'delimiter':
        return this.#takeDelimiter();
      case 'head':
        return this.#takeHead();
      case 'content':
        return this.#takeContent();
      case 'closed':
        break;
    }
    if (this.#pending.length > CRLF.length) throw malformed('what follows its end');
    return false;
  }

  #takeOpening(): boolean {
    const opening = this.#pending.subarray(0, this.#needle.length);
    if (!this.#needle.subarray(0, opening.length).equals(opening)) throw malformed('its beginning');
    if (opening.length < this.#needle.length) return false;
    this.#state = 'delimiter';
    return true;
  }

  /** `#pending` begins with the boundary. */
  #takeDelimiter(): boolean {
    const end = this.#needle.length + 2;
    if (this.#pending.length < end) return false;
    const after = this.#pending.subarray(this.#needle.length, end);
    this.#delimiterAt = this.#offset;
    if (after.equals(CRLF)) this.#state = 'head';
    else if (after.equals(DASHES)) this.#state = 'closed';
    else throw malformed('its boundary, which occurs elsewhere,');
    this.#consume(end);
    return true;
  }

  #takeHead(): boolean {
    const end = this.#pending.indexOf(HEAD_END);
    if (end > MAX_HEAD_BYTES || (end < 0 && this.#pending.length > MAX_HEAD_BYTES))
      throw malformed('the size of a part’s head');
    if (end < 0) return false;
    if (this.#parts.length === MAX_FORM_PARTS) {
      const message = `a form may have ${MAX_FORM_PARTS} parts`;
      throw new GatewayError('invalid_request', { message });
    }
    const bytes = this.#pending.subarray(0, end);
    if (bytes.includes(this.#needle)) throw malformed('its boundary, which occurs elsewhere,');
    this.#openPart(parseFormHead(bytes.toString('latin1')), end + HEAD_END.length);
    this.#state = 'content';
    this.#consume(end + HEAD_END.length);
    return true;
  }

  #openPart({ nameStart, nameEnd, ...head }: FormHead, length: number): void {
    const { filename, contentType } = head;
    this.#part = {
      ...head,
      isText: filename === undefined && (contentType === undefined || TEXT_TYPE.test(contentType)),
      from: this.#delimiterAt,
      nameStart: this.#offset + nameStart,
      nameEnd: this.#offset + nameEnd,
      start: this.#offset + length,
    };
  }

  #takeContent(): boolean {
    const at = this.#pending.indexOf(this.#needle);
    // What may be the beginning of the line end and the boundary is looked at again.
    const known = at < 0 ? this.#pending.length - this.#needle.length - 1 : at - CRLF.length;
    if (at >= 0 && (known < 0 || !this.#pending.subarray(known, at).equals(CRLF)))
      throw malformed('its boundary, which occurs elsewhere,');
    if (known > 0) this.#consume(known);
    this.#countText();
    if (at < 0) return false;
    this.#endPart();
    this.#consume(CRLF.length);
    this.#state = 'delimiter';
    return true;
  }

  #countText(): void {
    const { isText, start } = this.#part as FoundPart;
    if (!isText || this.#textBytes + this.#offset - start <= MAX_FORM_TEXT_BYTES) return;
    const message = `the text fields of a form may have ${MAX_FORM_TEXT_BYTES} bytes together`;
    throw new GatewayError('body_too_large', { message });
  }

  #endPart(): void {
    const part = { ...(this.#part as FoundPart), end: this.#offset };
    if (part.isText) this.#textBytes += part.end - part.start;
    this.#parts.push(part);
  }

  #consume(length: number): void {
    this.#pending = this.#pending.subarray(length);
    this.#offset += length;
  }
}
