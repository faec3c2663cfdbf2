import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { sniffMedia, SNIFFED_BYTES } from '../../assets/sniff-media.ts';
import type { ChatPart } from '../../client/chat.ts';
import { usageError } from '../cli-error.ts';

/** Bytes of one file: in base64 still less than the 32 MiB that a request may have. */
const MAX_BYTES = 20 * 1024 * 1024;

/** Formats of sound that chat requests know, by media type. */
const SOUND: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/mpeg': 'mp3' };

/**
 * Reads a file, or takes the http(s) URL of a picture, as a part of a chat message: pictures, WAV and
 * MP3, PDF by their first bytes, anything else that is UTF-8 as text under its name.
 *
 * @param given path below `cwd`, `~/…`, or a URL
 * @throws CliError `usage` (exit 64) for a missing path, one that is no file, empty, larger than
 *   20 MiB or of a type that chat requests cannot carry
 */
export async function readAttachment(given: string, cwd: string): Promise<ChatPart> {
  if (/^https?:\/\//i.test(given)) return { type: 'image_url', image_url: { url: given } };
  const path = given.startsWith('~/') ? join(homedir(), given.slice(2)) : resolve(cwd, given);
  const seen = await stat(path).catch(() => undefined);
  if (seen === undefined) throw usageError(`${given} does not exist`);
  if (!seen.isFile()) throw usageError(`${given} is not a file`);
  if (seen.size === 0) throw usageError(`${given} is empty`);
  if (seen.size > MAX_BYTES) throw usageError(`${given} is larger than 20 MiB`);
  const bytes = await readFile(path).catch((cause: Error) => {
    throw usageError(`${given} cannot be read: ${cause.message}`);
  });
  return toPart(bytes, { given, name: basename(path) });
}

function toPart(bytes: Buffer, { given, name }: { given: string; name: string }): ChatPart {
  const beginning = bytes.subarray(0, SNIFFED_BYTES);
  const picture = sniffMedia(beginning, 'Image');
  if (picture !== undefined)
    return { type: 'image_url', image_url: { url: dataUrl(bytes, picture) } };
  const format = SOUND[sniffMedia(beginning, 'Audio') ?? ''];
  if (format !== undefined) {
    return { type: 'input_audio', input_audio: { data: bytes.toString('base64'), format } };
  }
  if (beginning.toString('latin1').startsWith('%PDF-')) {
    const data = dataUrl(bytes, 'application/pdf');
    return { type: 'file', file: { filename: name, file_data: data } };
  }
  const text = asText(bytes);
  if (text !== undefined) return { type: 'text', text: `${name}:\n${text}` };
  throw usageError(
    `${given} is of no type that a chat can carry`,
    'send pictures, PDF, WAV, MP3 or text',
  );
}

function dataUrl(bytes: Buffer, mediaType: string): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}

/** Undefined for bytes that are not text. */
function asText(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
