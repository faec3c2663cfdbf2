import { Busboy } from '@fastify/busboy';
import type { BusboyInstance, Dicer } from '@fastify/busboy';
import { GatewayError } from '../core/errors.ts';
import { MAX_FORM_TEXT_BYTES } from '../core/form.ts';

/** Most parts of one form. */
const MAX_FORM_PARTS = 256;
/** Most bytes of the header lines of one part. */
const MAX_HEAD_BYTES = 16 * 1024;

const CR = 13;
const LF = 10;
const TEXT_TYPE = /^(?:text\/.*|application\/json)$/;
const MEDIA_TYPE = /^[\t\x20-\x7e]*$/;
/** Parameter of a header line. No quote in one is escaped (see {@link faultOf}). */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*("[^"]*"|[^;]*)/g;
/** Value in a character set of its own (RFC 5987, 3.2.1; RFC 8187 has only `UTF-8`). */
const EXTENDED = /^"?(utf-8|iso-8859-1)'[\w-]*'([^\s"'%;]|%[\da-f]{2})*"?$/i;

/** The header lines of a part by their names in lower case, as the client wrote them. */
type HeadLines = Record<string, readonly string[]>;

export interface BusboyListener {
  /** A part begins, before its field or its file; `contentType` as the client wrote it. */
  onHead(contentType: string | undefined): void;
  /** The form cannot be taken. Later parts may be cut, and no answer at all. */
  onFault(fault: GatewayError): void;
}

/**
 * The parser of a `multipart/form-data` body. It takes parts of any type but text for files, so that their
 * bytes stay as they are. Throws `invalid_request` when there is no boundary.
 */
export function openBusboy(contentType: string, listener: BusboyListener): BusboyInstance {
  const busboy = createBusboy(contentType);
  busboy.on('partsLimit', () => {
    const message = `a form may have ${MAX_FORM_PARTS} parts`;
    listener.onFault(new GatewayError('invalid_request', { message }));
  });
  const refuse = (fault: string): void => listener.onFault(malformed(fault));
  let isHeadless = false;
  // Busboy passes over parts and cuts heads without a word, and gives the type of a file in lower case, without
  // parameters, and as plain text where there is none; its tokenizer shows them.
  tokenizerOf(busboy)
    .on('preamble', (part) => {
      // A body without a boundary makes this error; the parser reports it, too.
      part.on('error', () => undefined);
      // Some clients write an empty line first (RFC 2046, 5.1.1).
      part.on('data', (bytes: Buffer) => {
        if (bytes.some((byte) => byte !== CR && byte !== LF))
          refuse('it does not begin with its boundary');
      });
    })
    .on('part', (part) => {
      if (isHeadless) refuse('the head of a part has no end');
      isHeadless = true;
      part.prependListener('header', (head) => {
        isHeadless = false;
        const lines = head as HeadLines;
        const fault = faultOf(lines);
        if (fault !== undefined) refuse(fault);
        const [disposition] = lines['content-disposition'] ?? [];
        if (disposition) lines['content-disposition'] = [withOneFilename(disposition)];
        listener.onHead(lines['content-type']?.[0] || undefined);
      });
      part.on('header', () => {
        if (part.listenerCount('data') === 0) refuse('a part has no proper content-disposition');
      });
    });
  busboy.on('finish', () => isHeadless && refuse('the head of a part has no end'));
  return busboy;
}

/** `fault` quotes nothing of the body. */
export function malformed(fault: string, cause?: unknown): GatewayError {
  const message = `the multipart body cannot be read: ${fault}`;
  return new GatewayError('invalid_request', { message, cause });
}

function createBusboy(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      isPartAFile: (_, type = '', filename) => filename !== undefined || !TEXT_TYPE.test(type),
      limits: {
        parts: MAX_FORM_PARTS,
        fieldSize: MAX_FORM_TEXT_BYTES,
        // More than is taken: a head that was cut shows by its length.
        headerSize: MAX_HEAD_BYTES + 64,
        headerPairs: Infinity,
      },
    });
  } catch (cause) {
    throw malformed('its content type names no boundary', cause);
  }
}

function tokenizerOf(busboy: BusboyInstance): Dicer {
  return (busboy as BusboyInstance & { _parser: { parser: Dicer } })._parser.parser;
}

/**
 * Busboy takes `filename` or `filename*` by their order, and passes over the parameters after a quoted
 * `filename`. The extended form is the name, in either order; the other is for servers that do not read it, and
 * often a substitute (RFC 6266, 4.3). One that cannot be read does not count (RFC 8187, 3.2.1).
 */
function withOneFilename(disposition: string): string {
  const values = new Map<string, string>();
  for (const [, name = '', value = ''] of disposition.matchAll(PARAMETER))
    values.set(name.toLowerCase(), value.trimEnd());
  const extended = values.get('filename*');
  if (extended === undefined || !values.has('filename')) return disposition;
  const unused = isReadable(extended) ? 'filename' : 'filename*';
  return disposition.replace(PARAMETER, (parameter, name: string) =>
    name.toLowerCase() === unused ? '' : parameter,
  );
}

function isReadable(extended: string): boolean {
  const [, charset] = EXTENDED.exec(extended) ?? [];
  if (charset?.toLowerCase() !== 'utf-8') return charset !== undefined;
  try {
    return decodeURIComponent(extended) !== '';
  } catch {
    return false;
  }
}

function faultOf(head: HeadLines): string | undefined {
  const lines = Object.entries(head).flatMap(([name, values]) =>
    values.map((value) => `${name}: ${value}\r\n`),
  );
  if (lines.join('').length > MAX_HEAD_BYTES) return 'a head is too long';
  // Some clients write a backslash as an escape and others as itself.
  if (/\\["\\]/.test(head['content-disposition']?.[0] ?? ''))
    return 'a name has a backslash before a quote or another backslash';
  if (!MEDIA_TYPE.test(head['content-type']?.[0] ?? '')) return 'a type has unfit characters';
  return undefined;
}
