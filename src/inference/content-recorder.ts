import { Buffer } from 'node:buffer';

/** Most that a record keeps of a prompt, and of an answer. */
const MAX_BYTES = 256 * 1024;

/**
 * Collects copies of a client's request and answer, for records that keep content (requirement
 * ops.log.content-off): the bytes of a request do not stay to the end of its call.
 */
export interface ContentRecorder {
  /** A piece of the request. */
  asked(bytes: Buffer): void;
  /** A piece of the answer. */
  add(bytes: Buffer): void;
  /** Texts of both sides, each cut at 256 KiB. */
  take(): { request: string; response: string };
}

export function createContentRecorder(): ContentRecorder {
  const request = new Beginning();
  const response = new Beginning();
  return {
    asked: (bytes) => request.add(bytes),
    add: (bytes) => response.add(bytes),
    take: () => ({ request: request.text(), response: response.text() }),
  };
}

class Beginning {
  readonly #parts: Buffer[] = [];
  #size = 0;

  add(bytes: Buffer): void {
    if (this.#size >= MAX_BYTES) return;
    const part = bytes.subarray(0, MAX_BYTES - this.#size);
    this.#parts.push(Buffer.from(part));
    this.#size += part.length;
  }

  text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}
