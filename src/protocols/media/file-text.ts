import { Buffer } from 'node:buffer';
import type { MediaSource } from '../canonical/canonical.ts';

type Data = Extract<MediaSource, { type: 'data' }>;

/** First bytes of a PDF, `%PDF-`, in base64. */
const PDF = 'JVBERi0';

/** True for base64 whose bytes say that they are a PDF, whatever their media type says. */
export function isPdf(data: string): boolean {
  return data.startsWith(PDF);
}

/** Text of a file in UTF-8, or in Latin-1 where its type says that it is text; undefined for other bytes. */
export function readTextFile({ mediaType, data }: Data): string | undefined {
  const bytes = Buffer.from(data, 'base64');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return mediaType.startsWith('text/') ? bytes.toString('latin1') : undefined;
  }
}
