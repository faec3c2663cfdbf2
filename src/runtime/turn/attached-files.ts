import { isUtf8 } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import { isJsonObject } from '../../core/json/value.ts';
import { fileOf } from '../../resources/files/message-files.ts';
import type { SessionEvent } from '../../sessions/log/session-event.ts';

/** A content block of an event. */
export type Block = Readonly<Record<string, unknown>>;

/** An upload that blocks name. */
export interface AttachedFile {
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /** Undefined when it was deleted meanwhile. */
  read(): Promise<Buffer | undefined>;
}

/** The file of that id; undefined for one that is not there any more. */
export type FindFile = (id: string) => Promise<AttachedFile | undefined>;

/** Bytes of all files of one request: in base64 still less than the 32 MB that providers take. */
const MAX_BYTES = 20 * 1024 * 1024;
/** Bytes of one text. */
export const MAX_TEXT = 1024 * 1024;

/** First bytes of the formats that models can look at. */
const SIGNATURES: readonly (readonly [mediaType: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
];

/** Content that replaces a file: its block without what the naming block says, or words. */
interface Content {
  readonly block: Block;
  /** Bytes that a request spends on it. */
  readonly size: number;
}

/**
 * Puts the content of files in the place of the blocks that name them. The newest go first: files
 * without room are named in words, as are deleted and unreadable ones.
 */
export class AttachedFiles {
  readonly #find: FindFile;
  /** Facts of files that were looked for; none ever changes. */
  readonly #known = new Map<string, ReturnType<FindFile>>();
  /** Files of the last request: the next one mostly asks for the same. */
  #held: ReadonlyMap<string, Content> = new Map();

  constructor(find: FindFile) {
    this.#find = find;
  }

  /** Looks for a file, once; undefined for one that is not there. */
  find(id: string): ReturnType<FindFile> {
    const found = this.#known.get(id) ?? this.#find(id);
    this.#known.set(id, found);
    return found;
  }

  /** Replaces files by their content, oldest first; other blocks stay as they are. */
  async toContent(blocks: readonly Block[]): Promise<Block[]> {
    const held = new Map<string, Content>();
    let room = MAX_BYTES;
    const content: Block[] = [];
    for (const block of blocks.toReversed()) {
      const id = fileOf(block);
      if (id === undefined) {
        content.push(block);
        continue;
      }
      const found = held.get(id) ?? this.#held.get(id) ?? (await this.#read(id, room));
      const fits = found.size <= room;
      content.push(
        fits ? withWords(found.block, block) : words(id, 'is left out for want of room'),
      );
      if (!fits) continue;
      room -= found.size;
      held.set(id, found);
    }
    this.#held = held;
    return content.toReversed();
  }

  async #read(id: string, room: number): Promise<Content> {
    const file = await this.find(id);
    if (!file) return { block: words(id, 'was deleted'), size: 0 };
    if (file.size > MAX_BYTES) return { block: words(id, 'is too large to be read'), size: 0 };
    if (file.size > room) return { block: {}, size: file.size };
    const bytes = await file.read();
    if (!bytes) return { block: words(id, 'was deleted'), size: 0 };
    return { block: toBlock(id, file, bytes), size: bytes.length };
  }
}

/** Events with the content of the files that theirs names. */
export async function withContent(
  events: readonly SessionEvent[],
  files: AttachedFiles,
): Promise<SessionEvent[]> {
  const blocks = events.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(isJsonObject) : [],
  );
  const found = await files.toContent(blocks);
  const contents = new Map(blocks.map((block, index) => [block, found[index]]));
  return events.map((event) => {
    const { content } = event;
    if (!Array.isArray(content)) return event;
    return { ...event, content: content.map((block) => contents.get(block) ?? block) };
  });
}

function toBlock(id: string, { name, mediaType }: AttachedFile, bytes: Buffer): Block {
  const head = bytes.toString('latin1', 0, 16);
  const declared = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  const known = SIGNATURES.find(([, pattern]) => pattern.test(head))?.[0];
  const isText = isUtf8(bytes) && !bytes.includes(0);
  if (bytes.length === 0) return words(id, 'is empty');
  if (known === undefined && isText) return toText(name, bytes);
  const told = known ?? (/^image\/|^application\/pdf$/.test(declared) ? declared : undefined);
  if (told === undefined) return words(id, `(${name}, ${declared}) cannot be read`);
  const source = { type: 'base64', media_type: told, data: bytes.toString('base64') };
  return told === 'application/pdf'
    ? { type: 'document', source, title: name }
    : { type: 'image', source };
}

/** Every protocol carries a text, in results of tools too. */
function toText(title: string, bytes: Buffer): Block {
  const isLong = bytes.length > MAX_TEXT;
  const text = bytes.toString('utf8', 0, MAX_TEXT);
  return { type: 'text', title, text: isLong ? `${text}… (cut off)` : text };
}

/** A file has the title that its message gives it. */
function withWords(content: Block, { title: given, context }: Block): Block {
  const { type, text, title: name } = content;
  const title = typeof given === 'string' && given !== '' ? given : name;
  if (type === 'document')
    return { ...content, title, ...(typeof context === 'string' && { context }) };
  if (type !== 'text' || typeof text !== 'string' || typeof title !== 'string') return content;
  return { type, text: `[${title}]\n\n${text}` };
}

function words(id: string, what: string): Block {
  return { type: 'text', text: `(The file ${id} ${what}.)` };
}
