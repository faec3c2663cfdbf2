import { Buffer } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import { atOnce, inTurns } from '../turns/in-turns.ts';
import type { Steps } from '../turns/in-turns.ts';
import type { ScannedMember } from './json-member.ts';
import type { Marks } from './marks.ts';
import { parseSteps } from './parse-steps.ts';
import { readValue } from './read-places.ts';
import { JsonScanner } from './scanner.ts';
import type { JsonFault } from './scanner.ts';

/** Most values that a client's document may turn into, and the setting that bounds them. */
export interface ValueBound {
  /** Values; an array that holds only numbers counts as one. */
  readonly most: number;
  /** Numbers in arrays that hold only numbers, where the document is made into a value. */
  readonly numbers: number;
  /** Setting as the refusal names it: `server.limits.body_values`. */
  readonly setting: string;
}

export interface DocumentOptions {
  /** Default no bound: for documents that the gateway made itself. */
  readonly values?: ValueBound | undefined;
  /** Beginnings of texts and names that {@link JsonDocument.maySee} is asked for. Default none. */
  readonly marks?: Marks | undefined;
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Kind by the first byte; any other is a number. */
const KINDS: Readonly<Record<number, JsonKind>> = {
  [0x7b]: 'object',
  [0x5b]: 'array',
  [0x22]: 'string',
  [0x74]: 'boolean',
  [0x66]: 'boolean',
  [0x6e]: 'null',
};

const EMPTY = Buffer.from('{}');
const EMPTY_SCAN = new JsonScanner(EMPTY);
EMPTY_SCAN.step();

/** Bytes that are scanned at once; a few milliseconds on a slow machine. */
const SLICE_BYTES = 256 * 1024;
/** Bytes of one further step. */
const STEP_BYTES = 64 * 1024;

/**
 * One JSON object as its bytes and the offsets of its members: strictly valid, within its bounds. Its value is
 * made when something asks for it, and can be dropped again.
 */
export class JsonDocument {
  #body: Buffer;
  #scanner: JsonScanner;
  readonly #bound: ValueBound | undefined;
  #value: Readonly<Record<string, unknown>> | undefined;

  constructor(body: Buffer, scanner: JsonScanner, bound: ValueBound | undefined) {
    this.#body = body;
    this.#scanner = scanner;
    this.#bound = bound;
  }

  get body(): Buffer {
    return this.#body;
  }

  /** Members in the order of the document; a repeated unguarded key appears as often as it is written. */
  get members(): readonly ScannedMember[] {
    return this.#scanner.members;
  }

  /**
   * The whole document, kept until {@link release}. Throws `invalid_request` when its arrays of
   * numbers are too long to be made into values.
   */
  get value(): Readonly<Record<string, unknown>> {
    return this.#value ?? atOnce(this.valueSteps());
  }

  /** Makes {@link value} in steps. */
  *valueSteps(): Steps<Readonly<Record<string, unknown>>> {
    if (!this.#value) {
      refuseNumbers(this.#scanner, this.#bound);
      this.#value = (yield* parseSteps(this.#body)) as Record<string, unknown>;
    }
    return this.#value;
  }

  /**
   * The value of only one member; undefined for one that is not there. Of a repeated key the last counts. Throws
   * `invalid_request` when its arrays of numbers are too long to be made into values.
   */
  get(key: string): unknown {
    const member = this.#toMake(key);
    return member ? readValue(this.body, member.valueStart, member.valueEnd) : this.#made(key);
  }

  /** Makes {@link get} in steps. */
  *getSteps(key: string): Steps<unknown> {
    const member = this.#toMake(key);
    if (!member) return this.#made(key);
    return yield* parseSteps(this.body.subarray(member.valueStart, member.valueEnd));
  }

  #made(key: string): unknown {
    return this.#value && Object.hasOwn(this.#value, key) ? this.#value[key] : undefined;
  }

  /** A member within the bounds whose value was not made yet. */
  #toMake(key: string): ScannedMember | undefined {
    const member = this.#value ? undefined : this.find(key);
    // Each number takes a digit and a comma at least, so no shorter member is over the bound.
    if (member && member.valueEnd - member.valueStart > 2 * (this.#bound?.numbers ?? Infinity)) {
      const kind = this.kindOf(key);
      if (kind === 'object' || kind === 'array') refuseNumbers(this.#scanner, this.#bound);
    }
    return member;
  }

  /** The kind of a member's value, which is not parsed for it; undefined for one that is not there. */
  kindOf(key: string): JsonKind | undefined {
    const member = this.find(key);
    return member && (KINDS[this.body[member.valueStart] as number] ?? 'number');
  }

  /** The last member of that name. */
  find(key: string): ScannedMember | undefined {
    const { members } = this;
    for (let index = members.length - 1; index >= 0; index--) {
      if (members[index]?.key === key) return members[index];
    }
    return undefined;
  }

  /** False: no text and no name in it begins with that mark, which the scan looked out for. */
  maySee(mark: string): boolean {
    return this.#scanner.maySee(mark);
  }

  /** Releases the parsed value; it is made again when asked for. */
  release(): void {
    this.#value = undefined;
  }

  /** Releases the bytes too, for good: the document is an empty object from then on. */
  discard(): void {
    this.#body = EMPTY;
    this.#scanner = EMPTY_SCAN;
    this.#value = undefined;
  }
}

function refuseNumbers(scanner: JsonScanner, bound: ValueBound | undefined): void {
  if (!bound || scanner.numbers <= bound.numbers) return;
  const { numbers, setting } = bound;
  throw invalid(
    `the body holds more than ${numbers} numbers in lists, too many for its model or path; \`${setting}\` sets the bound`,
  );
}

/**
 * Scans one JSON object. `guarded` names the members, 31 at most, that the gateway itself acts on: written twice,
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
 * Scans like {@link scanJson}, but a long document in slices between which other work runs; a short one is
 * there at once.
 */
export function scanInSlices(
  body: Buffer,
  options: DocumentOptions,
): JsonDocument | Promise<JsonDocument> {
  const scanner = createScanner(body, options);
  if (scanner.step(SLICE_BYTES)) return toDocument(body, scanner, options);
  return finishScan(scanner).then(() => toDocument(body, scanner, options));
}

/** The value of {@link scanInSlices}, which is made in steps, too. */
export async function readInSlices(
  body: Buffer,
  options: DocumentOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const document = await scanInSlices(body, options);
  return inTurns(document.valueSteps());
}

/**
 * Any JSON value, scanned in slices before it is made in steps. Throws `invalid_json`, and `invalid_request`
 * for a value over a bound.
 */
export async function parseInSlices(body: Buffer, options: DocumentOptions): Promise<unknown> {
  const scanner = createScanner(body, options);
  if (!scanner.step(SLICE_BYTES)) await finishScan(scanner);
  if (scanner.fault !== undefined) throw toError(scanner.fault, options.values);
  refuseNumbers(scanner, options.values);
  return inTurns(parseSteps(body));
}

/** Scans the rest in steps between which other work runs. */
export async function finishScan(scanner: JsonScanner): Promise<void> {
  await inTurns(scanSteps(scanner));
}

function* scanSteps(scanner: JsonScanner): Steps<void> {
  do yield;
  while (!scanner.step(STEP_BYTES));
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
function toError(fault: JsonFault, bound?: ValueBound): GatewayError {
  return FAULTS[fault](bound);
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}

function refuseAmbiguous({ body, members }: JsonDocument, guarded: readonly string[]): void {
  let seen = 0;
  for (const { key, keyStart, keyEnd } of members) {
    const own = guarded.indexOf(key);
    const index = own < 0 ? guarded.indexOf(fold(key)) : own;
    if (index < 0) continue;
    const isPlain = own >= 0 && keyEnd - keyStart === key.length + 2;
    if (!isPlain || (seen & (1 << index)) !== 0) {
      throw ambiguous(guarded[index] as string, body.toString('latin1', keyStart, keyEnd));
    }
    seen |= 1 << index;
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
