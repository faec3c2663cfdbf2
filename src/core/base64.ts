const OTHER = /[^A-Za-z0-9+/]/;

/**
 * True for base64 with its padding (RFC 4648, section 4), of any length: a pattern for the whole text runs out
 * of stack after some megabytes. Empty text is none.
 */
export function isBase64(text: string): boolean {
  if (text === '' || text.length % 4 !== 0) return false;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return !OTHER.test(text.slice(0, text.length - padding));
}
