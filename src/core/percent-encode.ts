import { Buffer } from 'node:buffer';

/** `encodeURIComponent` of any text: half of a surrogate pair, on which that throws, becomes U+FFFD. */
export function percentEncode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
