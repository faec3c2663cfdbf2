import { Buffer } from 'node:buffer';

/** The `content-disposition` of a download under this name (RFC 6266, RFC 8187). */
export function toAttachment(name: string): string {
  // The round trip replaces lone surrogates, on which `encodeURIComponent` throws.
  const encoded = encodeURIComponent(Buffer.from(name).toString()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
