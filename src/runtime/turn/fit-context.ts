import type { FunctionTool } from '../../protocols/canonical/canonical.ts';
import { fileOf } from '../../resources/files/message-files.ts';
import { estimateTokens } from '../../usage/spend/pricing.ts';
import { isAttachment } from './attachments.ts';
import { MAX_TEXT } from './attached-files.ts';
import type { Block, FindFile } from './attached-files.ts';
import type { AnswerPart, Entry } from './conversation.ts';
import type { TurnState } from './turn-state.ts';

export interface ContextRoom {
  /** Tokens of a request; a guess where the context window of the model is unknown. */
  readonly tokens: number;
  readonly instructions: string;
  readonly tools: readonly FunctionTool[];
  readonly findFile: FindFile;
}

/** Share of the room that is kept, so that not every request leaves out some more. */
const KEPT_SHARE = 0.5;
/** Tokens of an image, however many bytes it has, and of a page. */
const IMAGE_TOKENS = 1_600;
/** Bytes of a document for which one token is counted: most of its bytes are no text. */
const BYTES_PER_TOKEN = 100;
/** Most tokens that are counted for a document; a larger one must not crowd out all else. */
const MAX_DOCUMENT_TOKENS = 32_000;

/** Note for the model, before a conversation that does not begin with its beginning. */
export const LEFT_OUT_NOTE =
  'The conversation is longer than you can read, so its older part is left out. Say so where you need it.';

/**
 * Number of entries that the next request must leave out, the oldest first: none while all fit. The
 * input of the turn stays whatever its size, and so does the last answer with its results.
 */
export async function toLeaveOut(
  state: TurnState,
  { tokens, instructions, tools, findFile }: ContextRoom,
): Promise<number> {
  const fixed = estimateTokens(instructions.length + JSON.stringify(tools).length);
  const { entries, sizes: known, isTooLong: isTold } = state;
  let rest = fixed;
  for (const [index, entry] of entries.entries()) {
    let size = known.get(entry);
    if (size === undefined) {
      size = await sizeOf(entry, findFile);
      // The conversation grows, and most of it is as it was.
      if (index < entries.length - 1 && isWhole(entry)) known.set(entry, size);
    }
    rest += size;
  }
  if (rest <= tokens && !isTold) return 0;
  const sizes = await Promise.all(
    state.dispensable.map(async (entry) => known.get(entry) ?? (await sizeOf(entry, findFile))),
  );
  // The estimate is too low where the provider says that the conversation is too long.
  let excess = rest - KEPT_SHARE * (isTold ? Math.min(rest, tokens) : tokens);
  let count = 0;
  while (excess > 0 && count < sizes.length) excess -= sizes[count++] ?? 0;
  // The rest begins with an input, as providers want it.
  while (count > 0 && count < state.turnStart && state.entries[count]?.type === 'answer') count++;
  return count;
}

/** Nothing is added to it any more, unless it is the last. */
function isWhole(entry: Entry): boolean {
  return (
    entry.type === 'input' || entry.parts.every((part) => part.type !== 'use' || part.use.result)
  );
}

/** Text counts by its length, bytes in base64 and files by their media type and size. */
async function sizeOf(entry: Entry, findFile: FindFile): Promise<number> {
  const media: Block[] = [];
  const withoutMedia = (_name: string, value: unknown): unknown => {
    if (!isAttachment(value)) return value;
    media.push(value);
    return { ...value, source: undefined };
  };
  const content = entry.type === 'input' ? entry.event['content'] : entry.parts.map(toContent);
  let size = estimateTokens(JSON.stringify(content, withoutMedia)?.length ?? 0);
  for (const block of media) size += await sizeOfMedia(block, findFile);
  return size;
}

function toContent(part: AnswerPart): unknown {
  return part.type === 'use' ? [part.use.name, part.use.input, part.use.result?.content] : part;
}

async function sizeOfMedia(block: Block, findFile: FindFile): Promise<number> {
  if (block['type'] === 'image') return IMAGE_TOKENS;
  const id = fileOf(block);
  const { mediaType, bytes } = id === undefined ? readSource(block) : await readFile(id, findFile);
  if (mediaType.startsWith('image/')) return IMAGE_TOKENS;
  if (isText(mediaType)) return estimateTokens(bytes);
  return Math.min(Math.max(bytes / BYTES_PER_TOKEN, IMAGE_TOKENS), MAX_DOCUMENT_TOKENS);
}

interface Media {
  readonly mediaType: string;
  readonly bytes: number;
}

/** The media type and size at an address are unknown. */
function readSource({ source }: Block): Media {
  const { media_type: given, mediaType = given, data } = source as Block;
  const bytes = typeof data === 'string' ? data.length * 0.75 : 0;
  return { mediaType: String(mediaType), bytes };
}

async function readFile(id: string, findFile: FindFile): Promise<Media> {
  const { mediaType = '', size = 0 } = (await findFile(id)) ?? {};
  return { mediaType, bytes: isText(mediaType) ? Math.min(size, MAX_TEXT) : size };
}

const isText = (mediaType: string): boolean => mediaType.startsWith('text/');
