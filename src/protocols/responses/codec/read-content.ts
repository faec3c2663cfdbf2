import type { DocumentPart, ImagePart, Part, TextPart } from '../../canonical/canonical.ts';
import { readCitations } from './annotations.ts';
import { dataSource } from '../../media/data-source.ts';
import { mediaTypeOfName } from '../../media/file-name.ts';
import { storedFile } from '../../media/stored-file.ts';
import { invalid, readText, requireObject, requireText } from '../../json-fields.ts';
import type { Members } from '../../json-fields.ts';
import { readUrl } from './media.ts';

/** Position of content, and the set that notes members without a canonical form. */
export interface ContentPlace {
  /** `input[2].content`. */
  param: string;
  unmapped: Set<string>;
}

type Reader = (part: Members, param: string) => Part;

/** The content of a message or of a tool's result: a string, or a list of typed parts. */
export function readContent(content: unknown, { param, unmapped }: ContentPlace): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'a string or an array');
  return content.flatMap((one: unknown, index) => {
    const at = `${param}[${index}]`;
    const part = requireObject(one, at);
    const type = requireText(part['type'], `${at}.type`);
    const read = READERS.get(type);
    if (read) {
      const one = read(part, at);
      if (isLess(one, part)) unmapped.add(`${at}.annotations`);
      return [one];
    }
    unmapped.add(`${at}.${type}`);
    return [];
  });
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['input_text', (part, at) => readTextPart(part, at)],
  ['text', (part, at) => readTextPart(part, at)],
  ['output_text', (part, at) => readOutputText(part, at)],
  ['refusal', (part, at) => readRefusal(part, at)],
  ['input_image', (part, at) => readImage(part, at)],
  ['input_file', (part, at) => readFile(part, at)],
]);

function readTextPart(part: Members, at: string): TextPart {
  return { type: 'text', text: requireText(part['text'], `${at}.text`) };
}

function readOutputText(part: Members, at: string): TextPart {
  const citations = readCitations(part['annotations']);
  return { ...readTextPart(part, at), ...(citations.length > 0 && { citations }) };
}

/** True where the text has sources that are not on the web. */
function isLess(one: Part, { annotations }: Members): boolean {
  const kept = one.type === 'text' ? (one.citations ?? []) : [];
  return Array.isArray(annotations) && annotations.length > kept.length;
}

function readRefusal(part: Members, at: string): Part {
  return { type: 'refusal', text: requireText(part['refusal'], `${at}.refusal`) };
}

function readImage(part: Members, at: string): ImagePart {
  refuseStored(part, at);
  const url = requireText(part['image_url'], `${at}.image_url`);
  const detail = readText(part['detail'], `${at}.detail`);
  return {
    type: 'image',
    source: readUrl(url, `${at}.image_url`),
    // Required in the protocol; `auto` is the default of all others.
    ...(detail !== undefined && detail !== 'auto' && { detail }),
  };
}

function readFile(part: Members, at: string): DocumentPart {
  refuseStored(part, at);
  const name = readText(part['filename'], `${at}.filename`);
  const url = readText(part['file_url'], `${at}.file_url`);
  const data = url ?? requireText(part['file_data'], `${at}.file_data`);
  const isBare = url === undefined && !/^data:/i.test(data);
  return {
    type: 'document',
    source: isBare ? dataSource(mediaTypeOfName(name), data) : readUrl(data, `${at}.file_data`),
    ...(name !== undefined && { name }),
  };
}

function refuseStored({ file_id: id }: Members, at: string): void {
  if (id !== undefined && id !== null) throw storedFile(`${at}.file_id`);
}
