import type { MediaSource } from '../canonical/canonical.ts';

/** Names of media types that are in use, by the ones that are registered (IANA, Media Types). */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['application/x-pdf', 'application/pdf'],
]);

/** Bytes that a client sent, under their registered media type and in standard base64. */
export function dataSource(
  mediaType: string,
  data: string,
): Extract<MediaSource, { type: 'data' }> {
  return { type: 'data', mediaType: toMediaType(mediaType), data: toStandardBase64(data) };
}

export function toMediaType(name: string): string {
  const type = name.trim().toLowerCase();
  return ALIASES.get(type) ?? type;
}

/** Standard base64 (RFC 4648, section 4) for base64 in the URL-safe alphabet; anything else unchanged. */
export function toStandardBase64(data: string): string {
  if (!/[-_]/.test(data)) return data;
  const standard = data.replaceAll('-', '+').replaceAll('_', '/');
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=');
}
