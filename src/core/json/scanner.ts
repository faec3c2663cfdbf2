import type { Buffer } from 'node:buffer';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON_SIGN,
  COMMA,
  DOT,
  MINUS,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  SMALL,
  SMALL_E,
  ZERO,
  ESCAPE_LENGTHS,
  hasControl,
  HEX_DIGIT,
  IN_STRING,
  NUMBER_START,
  wordsOf,
} from './byte-classes.ts';
import type { ScannedMember } from './json-member.ts';
import { NO_MARKS } from './marks.ts';
import type { Marks } from './marks.ts';
import { readName } from './read-places.ts';
import { TextCheck } from './text-check.ts';

/** Deepest nesting of arrays and objects in a document, the outermost one included. */
export const MAX_JSON_DEPTH = 512;
/** Most members of the outermost object. */
export const MAX_JSON_MEMBERS = 4096;

/** Cause for refusing a document: no UTF-8, no JSON, or over one of the bounds. */
export type JsonFault = 'encoding' | 'syntax' | 'depth' | 'members' | 'values';

export interface ScanOptions {
  /** Most values: elements of arrays and members of objects. Default no bound. */
  readonly values?: number;
  /** Most members of the outermost object. Default {@link MAX_JSON_MEMBERS}. */
  readonly members?: number;
  /** Beginnings of texts and names to look out for. Default none. */
  readonly marks?: Marks;
  /** Takes bytes in strings that are no UTF-8. Default false. */
  readonly anyText?: boolean;
  /** Deepest nesting. Default {@link MAX_JSON_DEPTH}. */
  readonly depth?: number;
}

// States, by the token expected next.
const VALUE = 0;
const VALUE_OR_CLOSE = 1;
const KEY = 2;
const KEY_OR_CLOSE = 3;
const COLON = 4;
const COMMA_OR_CLOSE = 5;
const END = 6;
/** The scan is inside a string that is a key or a value. */
const IN_KEY = 7;
const IN_VALUE = 8;
/** The scan is in the digits of a number: whole, fraction, exponent. */
const IN_WHOLE = 9;
const IN_FRACTION = 10;
const IN_EXPONENT = 11;

/** Bytes of a string that are looked at one by one before a native search pays. */
const NEAR = 16;
/** Most bytes that one native search checks before the budget is looked at again. */
const MAX_LEAP = 4 * 1024 * 1024;

/** No array, or one that holds more than numbers. */
const NOT_NUMBERS = -1;

/**
 * A strict scan over the bytes of one JSON document that makes no value of it: accepts what
 * `JSON.parse` accepts and nothing else, within the bounds given. It can be driven in slices.
 *
 * Values are counted as they would be made: every element and every member, but for the elements of
 * an array that holds only numbers (a vector, tokens), which are cheap; that array counts as one.
 */
export class JsonScanner {
  /** Members of the outermost object so far, in the order of the document. */
  readonly members: ScannedMember[] = [];
  readonly #bytes: Buffer;
  readonly #maxValues: number;
  readonly #maxMembers: number;
  readonly #maxDepth: number;
  readonly #marks: Marks;
  #fault: JsonFault | undefined;
  readonly #textCheck: TextCheck | undefined;
  #at = 0;
  #state = VALUE;
  /** One entry per open array or object: true for an object. */
  readonly #open: boolean[] = [];
  #inObject = false;
  /** The outermost value does not count. */
  #values = -1;
  #numbers = 0;
  /** Numbers so far in the innermost array while it holds nothing else. */
  #run = NOT_NUMBERS;
  #seen = 0;
  #rootStart = 0;
  #keyStart = 0;
  #keyEnd = 0;
  #valueStart = 0;
  #size = 0;
  #isNumbers = false;
  /** The next quote and backslash, as far as they were searched. */
  #quote = -1;
  #backslash = -1;
  #words: Int32Array | undefined;

  constructor(bytes: Buffer, options: ScanOptions = {}) {
    this.#bytes = bytes;
    this.#maxValues = options.values ?? Infinity;
    this.#maxMembers = options.members ?? MAX_JSON_MEMBERS;
    this.#maxDepth = options.depth ?? MAX_JSON_DEPTH;
    this.#marks = options.marks ?? NO_MARKS;
    if (!options.anyText) this.#textCheck = new TextCheck(bytes);
  }

  /** Cause for which the document is refused; the scan is then over. */
  get fault(): JsonFault | undefined {
    return this.#fault;
  }

  /** Bytes scanned so far. */
  get scanned(): number {
    return this.#at;
  }

  /** Values so far, as counted against the bound. */
  get values(): number {
    return Math.max(this.#values, 0);
  }

  /** Numbers so far in arrays that hold nothing else; no part of {@link values}. */
  get numbers(): number {
    return this.#numbers;
  }

  /** True when the outermost value is an object; known after the first step. */
  get isObject(): boolean {
    return this.#bytes[this.#rootStart] === OPEN_BRACE;
  }

  /** False: no text and no name in the document begins with that mark, which the scan looked out for. */
  maySee(mark: string): boolean {
    const bit = this.#marks.bitOf(mark);
    return bit === 0 || (this.#seen & bit) !== 0;
  }

  /** Checks that the bytes are text, then scans about `budget` bytes more in each step. True when the scan is over. */
  step(budget = Infinity): boolean {
    const { length } = this.#bytes;
    const text = this.#textCheck?.step(budget);
    if (text === 'more') return false;
    if (text === 'broken') this.#fault = 'encoding';
    const stop = Math.min(this.#at + budget, length);
    while (this.#at < stop && this.#fault === undefined) this.#scanTo(stop);
    if (this.#fault === undefined && this.#at < length) return false;
    if (this.#fault === undefined && !this.#isWhole()) this.#fault = 'syntax';
    return true;
  }

  /** A number that is the whole document ends with it. */
  #isWhole(): boolean {
    if (this.#state < IN_WHOLE) return this.#state === END;
    const last = this.#bytes[this.#at - 1] as number;
    return this.#open.length === 0 && last >= ZERO && last <= NINE;
  }

  #scanTo(stop: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at >= 0 && at < stop) {
      const byte = bytes[at] as number;
      const state = this.#state;
      if (state >= IN_KEY) {
        at = state < IN_WHOLE ? this.#text(at, stop) : this.#digits(at, stop);
      } else if (byte <= 32) {
        at = byte === 32 || byte === 10 || byte === 13 || byte === 9 ? at + 1 : this.#refuse();
      } else if (state === COMMA_OR_CLOSE) {
        at = byte === COMMA ? this.#separate(at) : this.#close(byte, at);
      } else if (state === COLON) {
        if (byte === COLON_SIGN) {
          this.#state = VALUE;
          at++;
        } else at = this.#refuse();
      } else if (state <= VALUE_OR_CLOSE) {
        at = this.#value(byte, at, stop);
      } else if (byte === QUOTE && state !== END) {
        if (this.#open.length === 1) this.#keyStart = at;
        this.#state = IN_KEY;
        this.#seen |= this.#marks.at(bytes, at + 1);
        at = this.#text(at + 1, stop);
      } else at = state === KEY_OR_CLOSE ? this.#close(byte, at) : this.#refuse();
    }
    if (at >= 0) this.#at = at;
  }

  #refuse(fault: JsonFault = 'syntax'): number {
    this.#fault = fault;
    return -1;
  }

  #separate(at: number): number {
    this.#state = this.#inObject ? KEY : VALUE;
    return at + 1;
  }

  #close(byte: number, at: number): number {
    if (byte !== (this.#inObject ? CLOSE_BRACE : CLOSE_BRACKET)) return this.#refuse();
    const open = this.#open;
    if (open.length === 0) return this.#refuse();
    if (this.#run > 0) {
      this.#numbers += this.#run;
      this.#isNumbers = open.length === 2;
    }
    this.#run = NOT_NUMBERS;
    open.pop();
    this.#inObject = open.length > 0 && (open[open.length - 1] as boolean);
    return this.#endValue(at + 1);
  }

  #endValue(end: number): number {
    const depth = this.#open.length;
    this.#state = depth === 0 ? END : COMMA_OR_CLOSE;
    return depth === 1 && this.#inObject ? this.#addMember(end) : end;
  }

  #addMember(valueEnd: number): number {
    const keyStart = this.#keyStart;
    const keyEnd = this.#keyEnd;
    const valueStart = this.#valueStart;
    const count = this.members.push({
      key: readName(this.#bytes, keyStart, keyEnd),
      keyStart,
      keyEnd,
      valueStart,
      valueEnd,
      size: this.#size,
      isNumbers: this.#isNumbers,
    });
    return count > this.#maxMembers ? this.#refuse('members') : valueEnd;
  }

  #value(byte: number, at: number, stop: number): number {
    if (byte === CLOSE_BRACKET && this.#state === VALUE_OR_CLOSE) return this.#close(byte, at);
    if (this.#open.length <= 2) this.#begin(at);
    if (NUMBER_START[byte] === 1) {
      if (this.#run >= 0) this.#run++;
      else if (++this.#values > this.#maxValues) return this.#refuse('values');
      return this.#number(byte, at, stop);
    }
    if (this.#run > 0) this.#values += this.#run;
    this.#run = NOT_NUMBERS;
    if (++this.#values > this.#maxValues) return this.#refuse('values');
    if (byte === QUOTE) {
      this.#state = IN_VALUE;
      this.#seen |= this.#marks.at(this.#bytes, at + 1);
      return this.#text(at + 1, stop);
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return this.#openAt(at, byte === OPEN_BRACE);
    return this.#literal(byte, at);
  }

  #begin(at: number): void {
    const depth = this.#open.length;
    if (depth === 2) this.#size++;
    else if (depth === 1) {
      this.#valueStart = at;
      this.#size = 0;
      this.#isNumbers = false;
    } else this.#rootStart = at;
  }

  #openAt(at: number, isObject: boolean): number {
    if (this.#open.push(isObject) > this.#maxDepth) return this.#refuse('depth');
    this.#inObject = isObject;
    this.#run = isObject ? NOT_NUMBERS : 0;
    this.#state = isObject ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
    return at + 1;
  }

  #literal(byte: number, at: number): number {
    const word = byte === 116 ? 'true' : byte === 102 ? 'false' : byte === 110 ? 'null' : '';
    const bytes = this.#bytes;
    const end = at + word.length;
    if (word === '' || end > bytes.length) return this.#refuse();
    for (let index = 0; index < word.length; index++) {
      if (bytes[at + index] !== word.charCodeAt(index)) return this.#refuse();
    }
    return this.#endValue(end);
  }

  #number(byte: number, at: number, stop: number): number {
    const bytes = this.#bytes;
    const first = byte === MINUS ? at + 1 : at;
    const digit = first < bytes.length ? (bytes[first] as number) : 0;
    if (digit < ZERO || digit > NINE) return this.#refuse();
    this.#state = IN_WHOLE;
    if (digit !== ZERO) return this.#digits(first + 1, stop);
    return this.#afterDigits(first + 1, stop);
  }

  /** Scans after a digit. */
  #digits(from: number, stop: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < stop) {
      const byte = bytes[at] as number;
      if (byte < ZERO || byte > NINE) return this.#afterDigits(at, stop);
      at++;
    }
    return at;
  }

  #afterDigits(at: number, stop: number): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    const byte = at < length ? (bytes[at] as number) : 0;
    let first: number;
    if (byte === DOT && this.#state === IN_WHOLE) {
      this.#state = IN_FRACTION;
      first = at + 1;
    } else if ((byte | SMALL) === SMALL_E && this.#state !== IN_EXPONENT) {
      this.#state = IN_EXPONENT;
      const sign = at + 1 < length ? (bytes[at + 1] as number) : 0;
      first = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
    } else return this.#endValue(at);
    const digit = first < length ? (bytes[first] as number) : 0;
    return digit < ZERO || digit > NINE ? this.#refuse() : this.#digits(first + 1, stop);
  }

  /** Scans a string from inside it, at `from`, past its closing quote or to about `stop`. */
  #text(from: number, stop: number): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    let hasLeapt = false;
    let at = from;
    for (;;) {
      const near = Math.min(at + NEAR, length);
      while (at < near && IN_STRING[bytes[at] as number] === 1) at++;
      if (at === near) {
        at = this.#leap(at);
        if (at < 0) return this.#refuse();
        hasLeapt = true;
      }
      const byte = bytes[at] as number;
      if (byte !== QUOTE && IN_STRING[byte] === 0) {
        const escape = this.#escapeLength(at);
        if (escape === 0) return this.#refuse();
        at += escape;
      }
      if (byte !== QUOTE && at < stop) continue;
      if (hasLeapt && this.#hasControl(from, at)) return this.#refuse();
      return byte === QUOTE ? this.#endText(at + 1) : at;
    }
  }

  #endText(end: number): number {
    if (this.#state === IN_VALUE) return this.#endValue(end);
    if (this.#open.length === 1) this.#keyEnd = end;
    this.#state = COLON;
    return end;
  }

  /** The next quote or backslash, or where the budget is to be looked at; -1: the string has no end. */
  #leap(from: number): number {
    const bytes = this.#bytes;
    if (this.#quote < from) this.#quote = bytes.indexOf(QUOTE, from);
    if (this.#backslash < from) {
      const found = bytes.indexOf(BACKSLASH, from);
      this.#backslash = found < 0 ? bytes.length : found;
    }
    return Math.min(this.#quote, this.#backslash, from + MAX_LEAP);
  }

  #hasControl(from: number, to: number): boolean {
    this.#words ??= wordsOf(this.#bytes);
    return hasControl(this.#bytes, this.#words, { from, to });
  }

  /** Bytes of the escape at `at`; 0 if there is none. */
  #escapeLength(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at] !== BACKSLASH || at + 1 >= bytes.length) return 0;
    const length = ESCAPE_LENGTHS[bytes[at + 1] as number] as number;
    if (length !== 6) return length;
    if (at + 6 > bytes.length) return 0;
    for (let index = at + 2; index < at + 6; index++) {
      if (HEX_DIGIT[bytes[index] as number] === 0) return 0;
    }
    return length;
  }
}
