import { Buffer } from 'node:buffer';

/** What a record keeps of a prompt, and of an answer. */
const MAX_BYTES = 256 * 1024;

/** Gathers what the client gets, for records that keep content (requirement ops.log.content-off). */
export interface ContentRecorder {
  add(bytes: Buffer): void;
  /** Both sides as text, each cut at 256 KiB. */
  take(request: Buffer): { request: string; response: string };
}

export function createContentRecorder(): ContentRecorder {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    add(bytes) {
      if (size >= MAX_BYTES) return;
      const part = bytes.subarray(0, MAX_BYTES - size);
      parts.push(Buffer.from(part));
      size += part.length;
    },
    take: (request) => ({
      request: request.subarray(0, MAX_BYTES).toString('utf8'),
      response: Buffer.concat(parts).toString('utf8'),
    }),
  };
}
