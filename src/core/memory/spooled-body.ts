import { Buffer } from 'node:buffer';

/** A body that need not be in memory. It can be read any number of times, also by several at once. */
export interface SpooledBody {
  /** Bytes. */
  readonly length: number;
  /**
   * The bytes from `start` (default 0) up to `end` (default {@link length}) in pieces that are the
   * reader's to keep. A reader may stop early. Rejects when the body is gone or cannot be read.
   */
  open(start?: number, end?: number): AsyncIterable<Buffer>;
}

/** A body made of bytes. */
export function fromBytes(bytes: Buffer): SpooledBody {
  return {
    length: bytes.length,
    async *open(start, end) {
      const piece = bytes.subarray(start, end);
      if (piece.length > 0) yield piece;
    },
  };
}

/** A part of a body. */
export function sliceBody(body: SpooledBody, start: number, end: number): SpooledBody {
  const length = end - start;
  return {
    length,
    open: (from = 0, to = length) => body.open(start + from, start + to),
  };
}

/** Bodies one after another. */
export function joinBodies(parts: readonly SpooledBody[]): SpooledBody {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return {
    length,
    async *open(start = 0, end = length) {
      let at = 0;
      for (const part of parts) {
        const from = Math.max(start - at, 0);
        const to = Math.min(end - at, part.length);
        if (from < to) yield* part.open(from, to);
        at += part.length;
      }
    },
  };
}

/** The whole body; `limit` in bytes. Undefined when it is longer. */
export async function gatherBody(body: SpooledBody, limit: number): Promise<Buffer | undefined> {
  if (body.length > limit) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of body.open()) chunks.push(chunk);
  return Buffer.concat(chunks);
}
