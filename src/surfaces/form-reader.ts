import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { BusboyInstance } from '@fastify/busboy';
import { GatewayError } from '../core/errors.ts';
import { MAX_FORM_TEXT_BYTES } from '../core/form.ts';
import type { FormField, FormFile, FormPart } from '../core/form.ts';
import type { Spool } from '../core/memory/spool.ts';
import { sliceBody } from '../core/memory/spooled-body.ts';
import { malformed, openBusboy } from './open-busboy.ts';

/** Encodings that leave the bytes as they are; no other is in use (RFC 7578, 4.7). */
const PLAIN_ENCODING = /^(?:7bit|8bit|binary)$/i;
/** Names without a backslash or control character, which some parsers would read as another name. */
const FIELD_NAME = /^[^\\\p{Cc}]+$/u;

/** Arguments of Busboy's events; its types do not know that a name can be missing. */
type FieldEvent = [
  name: string | undefined,
  value: string,
  isNameCut: boolean,
  isCut: boolean,
  encoding: string,
  type: string,
];
type FileEvent = [
  name: string | undefined,
  stream: Readable,
  filename: string | undefined,
  encoding: string,
];

/** A file whose content is in the spool. */
interface FoundFile extends Omit<FormFile, 'content'> {
  start: number;
  end: number;
}

/**
 * Reads a `multipart/form-data` body as it arrives: texts become values, the contents of files go to
 * the spool one after another.
 */
export class FormReader {
  readonly #spool: Spool;
  readonly #busboy: BusboyInstance;
  readonly #finished: Promise<void>;
  readonly #parts: (FormField | FoundFile)[] = [];
  /** Parts of the chunk in hand that are to be spooled. */
  #arrived: { file: FoundFile; bytes: Buffer }[] = [];
  #contentType: string | undefined;
  #textBytes = 0;
  #fault: GatewayError | undefined;
  #refuse: (fault: GatewayError) => void = () => undefined;

  /** Throws `invalid_request` when the content type names no boundary. */
  constructor(contentType: string, spool: Spool) {
    this.#spool = spool;
    this.#busboy = openBusboy(contentType, {
      onHead: (type) => (this.#contentType = type),
      onFault: (fault) => this.#fail(fault),
    });
    this.#finished = new Promise((resolve) => this.#busboy.on('finish', resolve));
    this.#busboy.on('error', (cause) => this.#fail(malformed('its end is missing', cause)));
    this.#busboy.on('field', (...event: FieldEvent) => this.#takeField(event));
    this.#busboy.on('file', (...event: FileEvent) => this.#takeFile(event));
  }

  /**
   * Resolves when the chunk is done with; one at a time. Rejects with `invalid_request` for parts
   * that cannot be read or are too many, `body_too_large` for too much text, and `persistence_failed`
   * when there is no room in the spool.
   */
  async write(chunk: Buffer): Promise<void> {
    await this.#unlessRefused(
      () => new Promise((resolve) => this.#busboy.write(chunk, () => resolve())),
    );
    await this.#settle();
  }

  /** The parts in the order of the body. Rejects like {@link write}, and for a body without its end. */
  async end(): Promise<FormPart[]> {
    await this.#unlessRefused(() => {
      this.#busboy.end();
      return this.#finished;
    });
    await this.#settle();
    return this.#parts.map((part) => {
      if (part.value !== undefined) return part;
      const { start, end, ...file } = part;
      return { ...file, content: sliceBody(this.#spool, start, end) };
    });
  }

  #takeField([name = '', value, , isCut, encoding, type]: FieldEvent): void {
    this.#add({ name, value, contentType: type === 'text/plain' ? undefined : type }, encoding);
    this.#textBytes += Buffer.byteLength(value);
    if (!isCut && this.#textBytes <= MAX_FORM_TEXT_BYTES) return;
    const message = `the text fields of a form may have ${MAX_FORM_TEXT_BYTES} bytes together`;
    this.#fail(new GatewayError('body_too_large', { message }));
  }

  #takeFile([name = '', stream, filename, encoding]: FileEvent): void {
    const file = { name, filename, contentType: this.#contentType, start: 0, end: 0 };
    this.#add(file, encoding);
    if (filename?.endsWith('\\')) this.#fail(malformed('the name of a file ends in a backslash'));
    stream.on('data', (bytes: Buffer) => this.#arrived.push({ file, bytes }));
    // A body without its end makes this error; the parser reports it, too.
    stream.on('error', () => undefined);
  }

  #add(part: FormField | FoundFile, encoding: string): void {
    this.#parts.push(part);
    if (!FIELD_NAME.test(part.name)) this.#fail(malformed('a part has no plain name'));
    if (!PLAIN_ENCODING.test(encoding)) this.#fail(malformed('a part is encoded'));
  }

  /** Busboy may leave a body that is refused without an answer. */
  #unlessRefused(step: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#refuse = reject;
      if (this.#fault) reject(this.#fault);
      else step().then(resolve, reject);
    });
  }

  #fail(fault: GatewayError): void {
    this.#fault ??= fault;
    this.#refuse(fault);
  }

  async #settle(): Promise<void> {
    if (this.#fault) throw this.#fault;
    const arrived = this.#arrived;
    this.#arrived = [];
    // All of a file arrives before the first of the next one.
    for (const { file, bytes } of arrived) {
      if (file.end === 0) file.start = this.#spool.length;
      await keep(this.#spool, bytes);
      file.end = this.#spool.length;
    }
  }
}

async function keep(spool: Spool, bytes: Buffer): Promise<void> {
  try {
    await spool.write(bytes);
  } catch (cause) {
    throw new GatewayError('persistence_failed', { cause });
  }
}
