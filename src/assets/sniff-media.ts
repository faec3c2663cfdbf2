import type { Buffer } from 'node:buffer';

export const ASSET_TYPES = ['Image', 'Video', 'Audio'] as const;
export type AssetType = (typeof ASSET_TYPES)[number];

/** Number of first bytes that identify every kind of media. */
export const SNIFFED_BYTES = 16;

type MediaTypes = Partial<Record<AssetType, string>>;

interface Signature {
  readonly at: number;
  readonly bytes: string;
  /** Further bytes, where containers share a beginning. */
  readonly and?: { readonly at: number; readonly bytes: string };
  /** Media types that it may be; some containers hold sound with and without pictures. */
  readonly is: MediaTypes;
}

const OGG: MediaTypes = { Audio: 'audio/ogg', Video: 'video/ogg' };
const MPEG_AUDIO: MediaTypes = { Audio: 'audio/mpeg' };
const AAC: MediaTypes = { Audio: 'audio/aac' };
const TIFF: MediaTypes = { Image: 'image/tiff' };

/**
 * Beginnings of files, in latin1, the special ones first. Formats that can carry a script (SVG) are
 * not media.
 */
const SIGNATURES: readonly Signature[] = [
  { at: 0, bytes: '\x89PNG\r\n\x1a\n', is: { Image: 'image/png' } },
  { at: 0, bytes: '\xff\xd8\xff', is: { Image: 'image/jpeg' } },
  { at: 0, bytes: 'GIF87a', is: { Image: 'image/gif' } },
  { at: 0, bytes: 'GIF89a', is: { Image: 'image/gif' } },
  { at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'WEBP' }, is: { Image: 'image/webp' } },
  { at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'WAVE' }, is: { Audio: 'audio/wav' } },
  { at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'AVI ' }, is: { Video: 'video/x-msvideo' } },
  { at: 0, bytes: 'FORM', and: { at: 8, bytes: 'AIF' }, is: { Audio: 'audio/aiff' } },
  { at: 0, bytes: 'BM', and: { at: 6, bytes: '\0\0\0\0' }, is: { Image: 'image/bmp' } },
  { at: 0, bytes: 'II*\0', is: TIFF },
  { at: 0, bytes: 'MM\0*', is: TIFF },
  { at: 4, bytes: 'ftyp', and: { at: 8, bytes: 'avi' }, is: { Image: 'image/avif' } },
  { at: 4, bytes: 'ftyp', and: { at: 8, bytes: 'hei' }, is: { Image: 'image/heic' } },
  { at: 4, bytes: 'ftyp', and: { at: 8, bytes: 'mif1' }, is: { Image: 'image/heif' } },
  { at: 4, bytes: 'ftyp', and: { at: 8, bytes: 'M4A' }, is: { Audio: 'audio/mp4' } },
  { at: 4, bytes: 'ftyp', and: { at: 8, bytes: 'qt  ' }, is: { Video: 'video/quicktime' } },
  { at: 4, bytes: 'ftyp', is: { Video: 'video/mp4', Audio: 'audio/mp4' } },
  { at: 0, bytes: '\x1aE\xdf\xa3', is: { Video: 'video/webm', Audio: 'audio/webm' } },
  { at: 0, bytes: '\0\0\x01\xba', is: { Video: 'video/mpeg' } },
  { at: 0, bytes: '\0\0\x01\xb3', is: { Video: 'video/mpeg' } },
  { at: 0, bytes: 'OggS', is: OGG },
  { at: 0, bytes: 'fLaC', is: { Audio: 'audio/flac' } },
  { at: 0, bytes: '#!AMR', is: { Audio: 'audio/amr' } },
  { at: 0, bytes: 'ID3', is: MPEG_AUDIO },
  { at: 0, bytes: '\xff\xf1', is: AAC },
  { at: 0, bytes: '\xff\xf9', is: AAC },
  { at: 0, bytes: '\xff\xfb', is: MPEG_AUDIO },
  { at: 0, bytes: '\xff\xf3', is: MPEG_AUDIO },
  { at: 0, bytes: '\xff\xf2', is: MPEG_AUDIO },
  { at: 0, bytes: '\xff\xfa', is: MPEG_AUDIO },
];

/** The media type of bytes that are media of this kind, only by their beginning; undefined for others. */
export function sniffMedia(beginning: Buffer, type: AssetType): string | undefined {
  const text = beginning.toString('latin1', 0, SNIFFED_BYTES);
  const found = SIGNATURES.find(
    ({ at, bytes, and }) =>
      text.startsWith(bytes, at) && (!and || text.startsWith(and.bytes, and.at)),
  );
  return found?.is[type];
}
