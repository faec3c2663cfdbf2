import * as fc from 'fast-check';
import { anyCharacter } from '../../support/text/any-character.ts';

/** A valid answer as bytes, and what must be made of it. */
export interface Answer {
  bytes: Buffer;
  method: 'GET' | 'HEAD';
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
  /** Ends with the connection alone. */
  untilClose: boolean;
}

/** Those that say where the answer ends are added by {@link answers}. */
const names = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]{0,12}$/)
  .map((name) => `X-${name}`);

/** Without blanks around it, which undici leaves at the end and the RFC takes off. */
const values = fc.stringMatching(
  /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]{0,20}[\x21-\x7e])?$/,
);

const statuses = fc.oneof(
  fc.constantFrom(200, 201, 204, 304, 404, 429, 500, 529, 999),
  fc.integer({ min: 200, max: 599 }),
);

const bodies = fc
  .array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 })
  .map((parts) => parts.map((part) => Buffer.from(part)));

const extensions = fc.constantFrom('', ';a', ';a=b', ';a="b"', ';a;b=c');

interface Parts {
  method: 'GET' | 'HEAD';
  status: number;
  hints: number;
  reason: string;
  lines: Array<[name: string, value: string]>;
  framing: 'length' | 'chunked' | 'close';
  body: Buffer[];
  extension: string;
  trailers: string[];
}

/** Valid answers of every framing, with informational ones before and repeated headers. */
export const answers: fc.Arbitrary<Answer> = fc
  .record({
    method: fc.constantFrom('GET' as const, 'GET' as const, 'GET' as const, 'HEAD' as const),
    status: statuses,
    hints: fc.integer({ min: 0, max: 2 }),
    reason: fc.constantFrom('', ' ', ' OK', ' Not: Found'),
    lines: fc.array(fc.tuple(names, values), { maxLength: 6 }).map(withRepeats),
    framing: fc.constantFrom('length' as const, 'chunked' as const, 'close' as const),
    body: bodies,
    extension: extensions,
    trailers: fc.array(
      fc.tuple(names, values).map(([name, value]) => `${name}: ${value}\r\n`),
      { maxLength: 2 },
    ),
  })
  .map(toAnswer);

function withRepeats(lines: Array<[string, string]>): Array<[string, string]> {
  return lines.length > 2 ? [...lines, [lines[0]?.[0].toUpperCase() ?? 'X', 'again']] : lines;
}

function toAnswer(parts: Parts): Answer {
  const { method, status, body } = parts;
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const whole = Buffer.concat(hasBody ? body : []);
  const framing = framingLines(parts, whole.length);
  const lines = [...parts.lines, ...framing];
  const head = [
    ...Array.from({ length: parts.hints }, () => 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'),
    `HTTP/1.1 ${status}${parts.reason}\r\n`,
    ...lines.map(([name, value]) => `${name}: ${value}\r\n`),
    '\r\n',
  ].join('');
  const sent = parts.framing === 'chunked' && hasBody ? toChunks(parts) : whole;
  return {
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), sent]),
    method,
    status,
    headers: collect(lines),
    body: whole.toString('latin1'),
    untilClose: hasBody && parts.framing === 'close',
  };
}

function framingLines({ framing }: Parts, length: number): Array<[string, string]> {
  if (framing === 'length') return [['Content-Length', String(length)]];
  if (framing === 'chunked') return [['Transfer-Encoding', 'Chunked']];
  return [];
}

function toChunks({ body, extension, trailers }: Parts): Buffer {
  const chunks = body.filter((part) => part.length > 0);
  return Buffer.concat([
    ...chunks.flatMap((part) => [
      Buffer.from(`${part.length.toString(16)}${extension}\r\n`),
      part,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`0${extension}\r\n${trailers.join('')}\r\n`, 'latin1'),
  ]);
}

function collect(lines: ReadonlyArray<[string, string]>): Answer['headers'] {
  const headers: Answer['headers'] = {};
  for (const [name, value] of lines) {
    const key = name.toLowerCase();
    const before = headers[key];
    headers[key] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

/** One change of the kind that broken peers, proxies and attackers make. */
export const mutations: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc
  .record({
    kind: fc.constantFrom('replace', 'insert', 'remove', 'repeat', 'truncate'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 20 }),
    text: fc.oneof(
      fc.constantFrom('\r', '\n', '\r\n', '\r\n\r\n', '\0', ' ', ':', ';', '\t', ',', '0', 'f'),
      fc.constantFrom(
        'content-length: 3\r\n',
        'transfer-encoding: chunked\r\n',
        'HTTP/1.1 200\r\n',
      ),
      fc.constantFrom('ffffffffffffffff', '99999999999999999999', '-1', '0x', '+'),
      fc.string({ unit: anyCharacter, maxLength: 4 }),
    ),
  })
  .map(({ kind, at, length, text }) => (bytes: Buffer) => {
    const offset = Math.floor(at * bytes.length);
    const [before, after] = [bytes.subarray(0, offset), bytes.subarray(offset)];
    const added = Buffer.from(text, 'latin1');
    if (kind === 'insert') return Buffer.concat([before, added, after]);
    if (kind === 'replace') return Buffer.concat([before, added, after.subarray(added.length)]);
    if (kind === 'remove') return Buffer.concat([before, after.subarray(length)]);
    if (kind === 'repeat') return Buffer.concat([before, after.subarray(0, length), after]);
    return before;
  });
