import { Buffer } from 'node:buffer';
import { isJsonObject } from '../../../core/json/value.ts';
import type {
  AudioPart,
  CacheMark,
  DocumentPart,
  ImagePart,
  MediaSource,
  Part,
  TextPart,
} from '../../canonical/canonical.ts';
import { dataSource, toStandardBase64 } from '../../media/data-source.ts';
import { mediaTypeOfName } from '../../media/file-name.ts';
import { storedFile } from '../../media/stored-file.ts';
import { defined, invalid, readText, requireObject, requireText } from '../../json-fields.ts';
import type { Members } from '../../json-fields.ts';

/** Path of a part, and the list that notes members without a canonical form. */
export interface ContentPlace {
  /** `messages[2].content`. */
  param: string;
  unmapped: string[];
}

type Reader = (part: Members, param: string) => Part | undefined;

/** A message's content as parts: a string, or a list of typed parts. */
export function readContent(content: unknown, { param, unmapped }: ContentPlace): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'a string or an array');
  return content.flatMap((one: unknown, index) => {
    const at = `${param}[${index}]`;
    const part = typeof one === 'string' ? { type: 'text', text: one } : requireObject(one, at);
    const type = requireText(part['type'], `${at}.type`);
    const read = Object.hasOwn(READERS, type) ? READERS[type]?.(part, at) : undefined;
    if (read) return [read];
    unmapped.push(`${at}.${type}`);
    return [];
  });
}

/** Only the texts, as system messages and tools give them. */
export function readTexts(content: unknown, place: ContentPlace): TextPart[] {
  return readContent(content, place).filter((part) => {
    if (part.type !== 'text') place.unmapped.push(`${place.param}.${part.type}`);
    return part.type === 'text';
  });
}

const READERS: Readonly<Record<string, Reader>> = {
  text: (part, at) => ({
    type: 'text',
    text: requireText(part['text'], `${at}.text`),
    ...cacheOf(part),
  }),
  refusal: (part, at) => ({
    type: 'refusal',
    text: requireText(part['refusal'], `${at}.refusal`),
  }),
  image_url: readImage,
  file: readFile,
  input_audio: readAudio,
};

function readImage(part: Members, at: string): ImagePart {
  const given = part['image_url'];
  const image =
    typeof given === 'string' ? { url: given } : requireObject(given, `${at}.image_url`);
  const url = requireText(image['url'], `${at}.image_url.url`);
  const detail = readText(image['detail'], `${at}.image_url.detail`);
  return {
    type: 'image',
    source: readDataUrl(url, `${at}.image_url.url`) ?? { type: 'url', url },
    ...defined({ detail }),
    ...cacheOf(part),
  };
}

function readFile(part: Members, at: string): DocumentPart {
  const file = requireObject(part['file'], `${at}.file`);
  const { file_id: id } = file;
  if (id !== undefined && id !== null) throw storedFile(`${at}.file.file_id`);
  const param = `${at}.file.file_data`;
  const data = requireText(file['file_data'], param);
  const name = readText(file['filename'], `${at}.file.filename`);
  const isUrl = /^https?:\/\//i.test(data);
  const source: MediaSource = isUrl
    ? { type: 'url', url: data }
    : (readDataUrl(data, param) ?? dataSource(mediaTypeOfName(name), data));
  return { type: 'document', source, ...defined({ name }), ...cacheOf(part) };
}

function readAudio(part: Members, at: string): AudioPart {
  const audio = requireObject(part['input_audio'], `${at}.input_audio`);
  const format = requireText(audio['format'], `${at}.input_audio.format`);
  return {
    type: 'audio',
    mediaType: format === 'mp3' ? 'audio/mpeg' : `audio/${format}`,
    data: toStandardBase64(requireText(audio['data'], `${at}.input_audio.data`)),
  };
}

const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),/i;
const MAX_HEAD = 256;

function readDataUrl(url: string, param: string): MediaSource | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const match = DATA_URL.exec(url.slice(0, MAX_HEAD));
  if (!match) throw invalid(param, 'a complete data URL');
  const [head, mediaType = '', parameters = ''] = match;
  const data = url.slice(head.length);
  return dataSource(
    mediaType || 'text/plain',
    /;base64$/i.test(parameters) ? data : toBase64(data, param),
  );
}

function toBase64(encoded: string, param: string): string {
  try {
    return Buffer.from(decodeURIComponent(encoded)).toString('base64');
  } catch {
    throw invalid(param, 'a data URL with valid escapes');
  }
}

/** The mark that aggregators take from chat clients. */
export function cacheOf({ cache_control: mark }: Members): { cache?: CacheMark } {
  if (!isJsonObject(mark) || mark['type'] !== 'ephemeral') return {};
  return { cache: { ttl: mark['ttl'] === '1h' ? '1h' : '5m' } };
}
