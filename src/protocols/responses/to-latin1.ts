import { Buffer } from 'node:buffer';

/** A text as its UTF-8 bytes, one character per byte. */
export function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
