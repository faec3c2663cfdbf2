import type { Buffer } from 'node:buffer';
import type { Transform } from 'node:stream';
import { createDecoder } from './decoder.ts';
import { UpstreamError } from './transport.ts';

export interface DecodedBodyOptions {
  /** A coding of which `isDecodable` is true. */
  encoding: string;
  /** Decoded bytes after which the answer is refused: a small body may decode to gigabytes. */
  maxBytes: number;
  onData: (chunk: Buffer) => void;
  onEnd: () => void;
  onError: (error: UpstreamError) => void;
  /** Runs after `write` returned false, when it makes sense to write again. */
  onDrain: () => void;
}

/** Decodes a body as it arrives. The decoder is made with the first byte: an empty body needs none. */
export class DecodedBody {
  readonly #options: DecodedBodyOptions;
  #decoder: Transform | undefined;
  #bytes = 0;
  #paused = false;

  constructor(options: DecodedBodyOptions) {
    this.#options = options;
  }

  /** False: pause writing until `onDrain`. */
  write(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    this.#decoder ??= this.#start(chunk.readUInt8(0));
    return this.#decoder.write(chunk);
  }

  end(): void {
    if (this.#decoder) this.#decoder.end();
    else this.#options.onEnd();
  }

  pause(): void {
    this.#paused = true;
    this.#decoder?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#decoder?.resume();
  }

  destroy(): void {
    this.#decoder?.destroy();
  }

  #start(first: number): Transform {
    const { encoding, maxBytes, onData, onEnd, onError, onDrain } = this.#options;
    const decoder = createDecoder(encoding, first);
    decoder.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      if (this.#bytes <= maxBytes) return onData(chunk);
      decoder.destroy();
      onError(new UpstreamError('protocol', `the answer decodes to more than ${maxBytes} bytes`));
    });
    decoder.on('end', onEnd);
    decoder.on('drain', onDrain);
    decoder.on('error', (error) => {
      onError(
        new UpstreamError('protocol', `the answer is not valid ${encoding}`, { cause: error }),
      );
    });
    if (this.#paused) decoder.pause();
    return decoder;
  }
}
