import { percentEncode } from './printable.ts';

/** The `content-disposition` of a download under this name (RFC 6266, RFC 8187). */
export function toAttachment(name: string): string {
  const encoded = percentEncode(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
