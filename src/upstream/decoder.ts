import { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Decompress } from 'fzstd';

/** zlib's deflate stream begins with this compression method in the low half of its first byte. */
const ZLIB_DEFLATE = 8;

/** Content codings that {@link createDecoder} undoes. */
const CODINGS: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // RFC 9110 means the zlib format, some servers send the bare one: the first byte tells.
  deflate: (first) => ((first & 0x0f) === ZLIB_DEFLATE ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};

/** True for a `content-encoding` value that can be decoded; a list of several codings cannot. */
export function isDecodable(encoding: string): boolean {
  return Object.hasOwn(CODINGS, encoding.toLowerCase());
}

/** A stream that undoes one coding (RFC 9110, 8.4.1); `first` is the first byte of the body. */
export function createDecoder(encoding: string, first: number): Transform {
  const create = CODINGS[encoding.toLowerCase()];
  if (!create) throw new Error(`unknown content coding ${encoding}`);
  return create(first);
}

/** Node 20 has no zstd of its own. */
function createZstdDecompress(): Transform {
  const decompress = new Decompress();
  const push = (chunk: Uint8Array, last: boolean, done: (error?: Error | null) => void): void => {
    try {
      decompress.push(chunk, last);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const stream = new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => push(chunk, false, done),
    flush: (done) => push(new Uint8Array(0), true, done),
  });
  decompress.ondata = (data) => {
    if (data.length > 0) stream.push(data);
  };
  return stream;
}
