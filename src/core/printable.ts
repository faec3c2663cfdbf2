import { Buffer } from 'node:buffer';

/**
 * Control characters but tab and line feed, the separators of lines and paragraphs, and what turns the
 * direction of text around it.
 */
const UNPRINTABLE =
  // eslint-disable-next-line no-control-regex -- naming control characters is the point
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

// eslint-disable-next-line no-control-regex -- naming control characters is the point
const BREAK = /\r\n|[\t\n\u000b\f\r\u0085\u2028\u2029]/g;

// eslint-disable-next-line no-control-regex -- colours begin with one
const COLOUR = /(\u001b\[[\d;]*m)/;

/** Text from elsewhere for a terminal; line feeds and tabs stay. Our own colours are put on afterwards. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '');
}

/** A name from elsewhere as a piece of one line: breaks and tabs become blanks. */
export function oneLine(text: string): string {
  return printable(text.replace(BREAK, ' '));
}

/** {@link printable} of text whose colours are on already. */
export function printableColoured(text: string): string {
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('');
}

/** JSON text that means the same with everything unprintable escaped. */
export function printableJson(json: string): string {
  return json.replace(
    UNPRINTABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `encodeURIComponent` of any text: half of a surrogate pair, on which that throws, becomes U+FFFD. */
export function percentEncode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
