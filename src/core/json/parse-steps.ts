import { isAscii } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import type { Steps } from '../turns/in-turns.ts';
import { parseKeepingRaw, RawJson } from './raw.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './byte-classes.ts';
import { textSteps } from './text-steps.ts';

const CHUNK_BYTES = 16 * 1024;
/** Chunks in a document that is parsed at once, in one step, and in a string with steps of its own. */
const WHOLE_CHUNKS = 4;
const STEP_CHUNKS = 2;
const TEXT_CHUNKS = 16;
/** Bytes that could be passed in the time in which one quote is found. */
const SEARCH_BYTES = 16;

export interface ParseOptions {
  /** Members whose objects and arrays come as {@link RawJson}, as `parseKeepingRaw` gives them. Default none. */
  readonly keep?: readonly string[] | undefined;
  /** Bytes that are parsed at once, as far as commas allow. Default 16 KiB. */
  readonly chunkBytes?: number;
}

type Frame = unknown[] | Record<string, unknown>;

/** An object or array that has begun in the bytes that are not parsed yet. */
interface Opening {
  readonly isObject: boolean;
  /** Offset at which the element or member that holds it begins. */
  readonly memberAt: number;
}

/**
 * Parses like `JSON.parse`, in steps of some hundred microseconds. The bytes are parsed in chunks that end at a
 * comma at any depth.
 *
 * @param body a document that was scanned before; of others no fault is sure to be noticed
 */
export function* parseSteps(
  body: Buffer,
  { keep = [], chunkBytes = CHUNK_BYTES }: ParseOptions = {},
): Steps<unknown> {
  const textBytes = TEXT_CHUNKS * chunkBytes;
  if (body.length <= WHOLE_CHUNKS * chunkBytes)
    return parseKeepingRaw(decode(body, 0, body.length), keep);
  let start = 0;
  while ((body[start] as number) <= 32) start++;
  const first = body[start];
  if (first === QUOTE)
    return yield* textSteps(body, { start, end: body.lastIndexOf(QUOTE) + 1 }, textBytes);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET)
    return JSON.parse(decode(body, 0, body.length));
  const parser = new ChunkParser(body, { start, keep, chunkBytes });
  for (;;) {
    const long = parser.step();
    if (long) parser.setLong(yield* textSteps(body, long, textBytes));
    else if (parser.isDone) return parser.root;
    yield;
  }
}

function decode(body: Buffer, start: number, end: number): string {
  const part = body.subarray(start, end);
  return part.toString(isAscii(part) ? 'latin1' : 'utf8');
}

class ChunkParser {
  readonly root: Frame;
  readonly #body: Buffer;
  readonly #chunkBytes: number;
  /** Names of members that are kept as they are written. */
  readonly #keep: ReadonlySet<string>;
  /** Containers that were made and have not ended, the innermost last. */
  readonly #frames: Frame[] = [];
  /** Containers inside these that have begun since {@link #from}. */
  #open: Opening[] = [];
  /** Begin of the rest that is not parsed yet, in the innermost frame. */
  #from: number;
  /** Begin of the innermost element or member. */
  #memberAt: number;
  #at: number;
  /** The text at the current offset, as far as it was read. */
  #textStart = -1;
  /** Containers that are open inside a value that is kept as its text; 0: none is. */
  #rawDepth = 0;
  #rawStart = 0;
  #isObject: boolean;

  constructor(
    body: Buffer,
    { start, keep, chunkBytes }: { start: number; keep: readonly string[]; chunkBytes: number },
  ) {
    this.#body = body;
    this.#chunkBytes = chunkBytes;
    this.#keep = new Set(keep.map((name) => JSON.stringify(name)));
    this.#isObject = body[start] === OPEN_BRACE;
    this.root = this.#isObject ? {} : [];
    this.#frames.push(this.root);
    this.#from = start + 1;
    this.#memberAt = start + 1;
    this.#at = start + 1;
  }

  get isDone(): boolean {
    return this.#frames.length === 0;
  }

  /** Parses about a chunk more. Returns a long text that is the next value, for {@link setLong}. */
  step(): { start: number; end: number } | undefined {
    const body = this.#body;
    let work = STEP_CHUNKS * this.#chunkBytes;
    while (work > 0 && this.#frames.length > 0) {
      const at = this.#at;
      const byte = body[at];
      if (byte === undefined) throw new SyntaxError('the document has no end');
      work--;
      if (byte === QUOTE || this.#textStart >= 0) {
        const end = this.#text(at);
        work -= SEARCH_BYTES;
        if (end < 0) continue;
        const start = this.#textStart;
        this.#textStart = -1;
        this.#at = end;
        if (
          end - start > TEXT_CHUNKS * this.#chunkBytes &&
          this.#rawDepth === 0 &&
          !this.#isKey(start)
        ) {
          this.#cut(this.#memberAt);
          return { start, end };
        }
        continue;
      }
      this.#at = at + 1;
      if (byte === COMMA) {
        if (this.#rawDepth > 0) continue;
        this.#memberAt = at + 1;
        if (at - this.#from < this.#chunkBytes) continue;
        this.#cut(at + 1);
        return undefined;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#begin(at, byte === OPEN_BRACE);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#end(at);
    }
    return undefined;
  }

  /** Takes the value of the text that {@link step} returned. */
  setLong(text: string): void {
    this.#set(text, this.#at);
  }

  /** The end of the text that begins at or before `at`; -1: it was not found yet. */
  #text(at: number): number {
    const body = this.#body;
    const from = this.#textStart < 0 ? at + 1 : at;
    if (this.#textStart < 0) this.#textStart = at;
    const quote = body.indexOf(QUOTE, from);
    if (quote < 0) throw new SyntaxError('a string has no end');
    let before = quote - 1;
    while (before >= from && body[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    this.#at = quote + 1;
    return -1;
  }

  #isKey(start: number): boolean {
    return this.#isObject && this.#keyStart(this.#memberAt) === start;
  }

  #keyStart(memberAt: number): number {
    return this.#body.indexOf(QUOTE, memberAt);
  }

  #begin(at: number, isObject: boolean): void {
    if (this.#rawDepth > 0) {
      this.#rawDepth++;
      return;
    }
    if (this.#keep.size > 0 && this.#isObject && this.#keep.has(this.#key(this.#memberAt))) {
      this.#rawDepth = 1;
      this.#rawStart = at;
      return;
    }
    this.#open.push({ isObject, memberAt: this.#memberAt });
    this.#isObject = isObject;
    this.#memberAt = at + 1;
  }

  #end(at: number): void {
    if (this.#rawDepth > 0) {
      if (--this.#rawDepth > 0) return;
      this.#cut(this.#memberAt);
      this.#set(new RawJson(decode(this.#body, this.#rawStart, at + 1)), at + 1);
      return;
    }
    if (this.#open.length > 0) this.#open.pop();
    else {
      this.#take(at);
      this.#frames.pop();
      this.#from = at + 1;
    }
    const around = this.#open.at(-1)?.isObject;
    this.#isObject = around ?? !Array.isArray(this.#frames.at(-1));
  }

  /** The name of a member as it is written. */
  #key(memberAt: number): string {
    const start = this.#keyStart(memberAt);
    const body = this.#body;
    let end = start;
    do {
      end = body.indexOf(QUOTE, end + 1);
      let before = end - 1;
      while (body[before] === BACKSLASH) before--;
      if ((end - before) % 2 === 1) break;
    } while (end > 0);
    return decode(body, start, end + 1);
  }

  /** Makes everything before a member, so that its container becomes the innermost frame. */
  #cut(memberAt: number): void {
    const end = this.#body[memberAt - 1] === COMMA ? memberAt - 1 : memberAt;
    let made = this.#take(Math.max(end, this.#from));
    for (const { memberAt } of this.#open) {
      made = (
        Array.isArray(made) ? made.at(-1) : made?.[JSON.parse(this.#key(memberAt)) as string]
      ) as Frame;
      this.#frames.push(made);
    }
    this.#open = [];
    this.#from = memberAt;
  }

  /** Parses the bytes up to `end` into the innermost frame. Returns the container that they make. */
  #take(end: number): Frame | undefined {
    const frame = this.#frames.at(-1) as Frame;
    let from = this.#from;
    while (from < end && isBetween(this.#body[from] as number)) from++;
    if (from >= end) return undefined;
    const [head, tail] = Array.isArray(frame) ? ['[', ']'] : ['{', '}'];
    const closers = this.#open.map(({ isObject }) => (isObject ? '}' : ']')).reverse();
    const text = `${head}${decode(this.#body, from, end)}${closers.join('')}${tail}`;
    const made = JSON.parse(text) as Frame;
    if (Array.isArray(made)) {
      for (const one of made) (frame as unknown[]).push(one);
    } else {
      for (const [name, value] of Object.entries(made))
        setMember(frame as Record<string, unknown>, name, value);
    }
    return made;
  }

  /** Adds the value of the current member of the innermost frame, whose bytes end at `end`. */
  #set(value: unknown, end: number): void {
    const frame = this.#frames.at(-1) as Frame;
    if (Array.isArray(frame)) frame.push(value);
    else setMember(frame, JSON.parse(this.#key(this.#memberAt)) as string, value);
    this.#from = end;
  }
}

/** White space, or the comma after a value that was made by itself. */
function isBetween(byte: number): boolean {
  return byte <= 32 || byte === COMMA;
}

/** A member of the name `__proto__` is one like any other. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') {
    object[name] = value;
    return;
  }
  Object.defineProperty(object, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
