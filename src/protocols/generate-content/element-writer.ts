import { Buffer } from 'node:buffer';
import { googleStatus } from '../google-status.ts';
import type { InBandError, RequestPeek } from '../protocol.ts';
import { isArrayStream } from './generate-content-request.ts';

const CLOSE = Buffer.from(']');
const EMPTY = Buffer.from('[]');

/**
 * Puts answers on the wire one by one: as bare `data:` frames, which is all that official clients
 * read, or as the elements of one JSON array (contract: Generate-content protocol, Streaming).
 */
export class ElementWriter {
  readonly isArray: boolean;
  #begun = false;

  constructor(peek: RequestPeek) {
    this.isArray = isArrayStream(peek);
  }

  /** `json` is one JSON value. Line breaks between its tokens would end its line. */
  element(json: Buffer | string): Buffer {
    const latin1 = typeof json === 'string' ? undefined : json.toString('latin1');
    const line = (latin1 ?? (json as string)).replace(/[\r\n]+/g, ' ');
    const text = Buffer.from(line, latin1 === undefined ? 'utf8' : 'latin1');
    const [before, after] = this.isArray ? [this.#begun ? ',\n' : '[', ''] : ['data: ', '\n\n'];
    this.#begun = true;
    return Buffer.concat([Buffer.from(before), text, Buffer.from(after)]);
  }

  /** The clean end; nothing where the connection's end is all. */
  end(): Buffer | undefined {
    if (!this.isArray) return undefined;
    return this.#begun ? CLOSE : EMPTY;
  }

  /** A failure after the stream began, and the end after it. */
  failure({ message, status }: InBandError): Buffer {
    const error = { code: status, message, status: googleStatus(status) };
    const last = this.element(JSON.stringify({ error }));
    return this.isArray ? Buffer.concat([last, CLOSE]) : last;
  }
}
