import { isAscii } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import { parseJsonObject } from '../json-value.ts';
import type { Marks } from './marks.ts';
import { JsonScanner } from './scanner.ts';
import type { JsonFault, MemberPlace } from './scanner.ts';

/** A top-level member of an object: its name, and where it stands in the bytes. */
export interface JsonMember extends MemberPlace {
  readonly key: string;
}

/** Most values that a client's document may turn into, and the setting that says so. */
export interface ValueBound {
  readonly most: number;
  /** As the refusal names it: `server.limits.body_values`. */
  readonly setting: string;
}

export interface DocumentOptions {
  /** Default no bound: for documents that the gateway made itself. */
  readonly values?: ValueBound | undefined;
  /** Beginnings of strings that {@link JsonDocument.maySee} is asked for. Default none. */
  readonly marks?: Marks | undefined;
}

/** Numbers in arrays of numbers that may be made into values, per value that may. */
const NUMBERS_PER_VALUE = 8;

/** Bytes that are scanned before others get their turn; a few milliseconds on a slow machine. */
const SLICE_BYTES = 256 * 1024;

/**
 * One JSON object as its bytes and the places of its members: strictly valid, within its bounds. Its
 * value is made when something asks for it, and can be dropped again.
 */
export class JsonDocument {
  readonly body: Buffer;
  /** In the order of the document; a repeated unguarded key appears as often as it is written. */
  readonly members: readonly JsonMember[];
  readonly #scanner: JsonScanner;
  readonly #bound: ValueBound | undefined;
  #value: Readonly<Record<string, unknown>> | undefined;

  constructor(body: Buffer, scanner: JsonScanner, bound: ValueBound | undefined) {
    this.body = body;
    this.#scanner = scanner;
    this.#bound = bound;
    this.members = scanner.members.map((place) => toMember(body, place));
  }

  /**
   * The whole document, kept until {@link release}. Throws `invalid_request` when its arrays of
   * numbers are too long to be made into values.
   */
  get value(): Readonly<Record<string, unknown>> {
    if (this.#value) return this.#value;
    this.#refuseManyNumbers();
    const { body } = this;
    const value = parseJsonObject(body.toString(isAscii(body) ? 'latin1' : 'utf8'));
    if (value === undefined) throw new GatewayError('invalid_json');
    this.#value = value;
    return value;
  }

  /** The value of one member alone; undefined for one that is not there. Of a repeated key the last counts. */
  get(key: string): unknown {
    if (this.#value) return Object.hasOwn(this.#value, key) ? this.#value[key] : undefined;
    const member = this.find(key);
    return member && parsePlace(this.body, member.valueStart, member.valueEnd);
  }

  /** The last member of that name. */
  find(key: string): JsonMember | undefined {
    const { members } = this;
    for (let index = members.length - 1; index >= 0; index--) {
      if (members[index]?.key === key) return members[index];
    }
    return undefined;
  }

  /** False: no string in it begins with that mark, which the scan looked out for. */
  maySee(mark: string): boolean {
    return this.#scanner.maySee(mark);
  }

  /** Lets go of the parsed value; it is made again when asked for. */
  release(): void {
    this.#value = undefined;
  }

  #refuseManyNumbers(): void {
    if (!this.#bound) return;
    const { most, setting } = this.#bound;
    if (this.#scanner.numbers <= most * NUMBERS_PER_VALUE) return;
    const message = `the body holds more than ${most * NUMBERS_PER_VALUE} numbers in arrays, which is more than can be translated; the bound is ${NUMBERS_PER_VALUE} times \`${setting}\``;
    throw new GatewayError('invalid_request', { message });
  }
}

function toMember(body: Buffer, place: MemberPlace): JsonMember {
  const { keyStart, keyEnd, valueStart, valueEnd } = place;
  return { key: decodeKey(body, keyStart, keyEnd), keyStart, keyEnd, valueStart, valueEnd };
}

/** A copy, so that no part of a longer text is kept for it. */
function decodeKey(body: Buffer, start: number, end: number): string {
  const key = body.toString('latin1', start + 1, end - 1);
  return /^[ !#-[\]-~]*$/.test(key) ? key : (parsePlace(body, start, end) as string);
}

function parsePlace(body: Buffer, start: number, end: number): unknown {
  return JSON.parse(body.toString('utf8', start, end));
}

/**
 * Scans one JSON object. `guarded` names the members that the gateway itself acts on: written twice,
 * in another case or with escapes they are refused, because the next parser might see another value
 * than this one. A byte order mark is refused: it would be forwarded to providers that do not accept it.
 *
 * Throws `invalid_json` (not UTF-8, not JSON, not an object) and `invalid_request` (ambiguous guarded
 * member, nested too deeply, too many members or values).
 *
 * @param source bytes, or what {@link scanInSlices} made of them
 */
export function scanJson(
  source: Buffer | JsonDocument,
  guarded: readonly string[] = [],
  options: DocumentOptions = {},
): JsonDocument {
  let document = source instanceof JsonDocument ? source : undefined;
  if (!document) {
    const body = source as Buffer;
    const scanner = createScanner(body, options);
    scanner.step();
    document = toDocument(body, scanner, options);
  }
  if (guarded.length > 0) refuseAmbiguous(document, guarded);
  return document;
}

/**
 * Like {@link scanJson}, but a long document is scanned in slices between which others get their turn;
 * a short one is there at once.
 */
export function scanInSlices(
  body: Buffer,
  options: DocumentOptions,
): JsonDocument | Promise<JsonDocument> {
  const scanner = createScanner(body, options);
  if (scanner.step(SLICE_BYTES)) return toDocument(body, scanner, options);
  return finishScan(scanner).then(() => toDocument(body, scanner, options));
}

/** Scans the rest in slices between which others get their turn. */
export async function finishScan(scanner: JsonScanner): Promise<void> {
  do await new Promise(setImmediate);
  while (!scanner.step(SLICE_BYTES));
}

function createScanner(body: Buffer, { values, marks }: DocumentOptions): JsonScanner {
  return new JsonScanner(body, { values: values?.most, marks });
}

function toDocument(body: Buffer, scanner: JsonScanner, { values }: DocumentOptions): JsonDocument {
  if (scanner.fault !== undefined) throw toError(scanner.fault, values);
  if (!scanner.isObject) {
    throw new GatewayError('invalid_json', { message: 'request body is not a JSON object' });
  }
  return new JsonDocument(body, scanner, values);
}

const FAULTS: Record<JsonFault, (bound: ValueBound | undefined) => GatewayError> = {
  encoding: () => new GatewayError('invalid_json', { message: 'request body is not valid UTF-8' }),
  syntax: () => new GatewayError('invalid_json'),
  depth: () => invalid('request body is nested too deeply'),
  members: () => invalid('request body has too many members'),
  values: (bound) =>
    invalid(`the body holds more than ${bound?.most} values; \`${bound?.setting}\` sets the bound`),
};

/** The refusal of a client's document. */
export function toError(fault: JsonFault, bound?: ValueBound): GatewayError {
  return FAULTS[fault](bound);
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}

function refuseAmbiguous({ body, members }: JsonDocument, guarded: readonly string[]): void {
  const seen = new Set<string>();
  for (const { key, keyStart, keyEnd } of members) {
    const name = guarded.includes(key) ? key : fold(key);
    if (!guarded.includes(name)) continue;
    const plain = name === key && keyEnd - keyStart === key.length + 2;
    if (!plain || seen.has(name)) throw ambiguous(name, body.toString('latin1', keyStart, keyEnd));
    seen.add(name);
  }
}

/** Some JSON libraries match member names without regard to case and compatibility forms. */
function fold(key: string): string {
  return /^[a-z0-9_]*$/.test(key) ? key : key.normalize('NFKC').toLowerCase();
}

function ambiguous(name: string, spelled: string): GatewayError {
  const why = spelled === `"${name}"` ? 'given more than once' : 'spelled in an ambiguous way';
  return new GatewayError('invalid_request', { message: `\`${name}\` is ${why}`, param: name });
}
