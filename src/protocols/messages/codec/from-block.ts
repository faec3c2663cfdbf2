import { RawJson } from '../../../core/json/raw.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type {
  CacheMark,
  DocumentPart,
  ImagePart,
  MediaSource,
  OpaquePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/canonical.ts';
import { dataSource } from '../../media/data-source.ts';
import { fromCitations, isReferred } from './citations.ts';
import { invalid, readList, readObject, readText } from './members.ts';
import type { Members } from './members.ts';
import { fromRedacted, fromThinking } from './thinking.ts';
import type { Writer } from './thinking.ts';

/** Position of a block, and the set that notes members without a canonical form. */
export interface Place {
  readonly path: string;
  readonly writer: Writer;
  /** Names of fields. */
  readonly unmapped: Set<string>;
}

type ReadBlock = (block: Members, place: Place) => Part;

/** Blocks of other types are carried as they are. */
const READERS: ReadonlyMap<unknown, ReadBlock> = new Map<unknown, ReadBlock>([
  ['text', fromText],
  ['image', fromImage],
  ['document', fromDocument],
  ['search_result', fromSearchResult],
  ['tool_use', fromToolUse],
  ['tool_result', fromToolResult],
  ['thinking', (block, { path, writer }) => fromThinking(block, path, writer)],
  ['redacted_thinking', (block, { path, writer }) => fromRedacted(block, path, writer)],
]);

/**
 * A content block, as `parseKeepingRaw` with `input` gives it.
 *
 * @throws GatewayError `invalid_request` with `param` for one that lacks what its type needs
 */
export function fromBlock(value: unknown, place: Place): Part {
  const block = readObject(value, place.path);
  return READERS.get(block['type'])?.(block, place) ?? opaque(block, place);
}

/** Content in either of its two forms. */
export function fromContent(content: unknown, place: Place): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return readList(content, place.path).map((block, index) =>
    fromBlock(block, { ...place, path: `${place.path}[${index}]` }),
  );
}

/** The arguments of a call as their text. */
export function toArguments(input: unknown): string {
  return input instanceof RawJson ? input.text : JSON.stringify(input);
}

function opaque(value: Members, { path, writer }: Place): OpaquePart {
  const own = { type: 'opaque', origin: 'messages', value } as const;
  return writer === 'client' ? { ...own, path: `${path}.${String(value['type'])}` } : own;
}

function fromText(block: Members, { path, writer, unmapped }: Place): TextPart {
  const text = readText(block, 'text', path);
  const listed = Array.isArray(block['citations']) ? block['citations'].length : 0;
  const citations = fromCitations(block['citations']);
  if (writer === 'client' && (citations.length < listed || isReferred(block['citations'])))
    unmapped.add(`${path}.citations`);
  return { type: 'text', text, ...(citations.length > 0 && { citations }), ...cacheOf(block) };
}

function fromImage(block: Members, place: Place): ImagePart | OpaquePart {
  const { path } = place;
  const source = fromSource(readObject(block['source'], `${path}.source`), `${path}.source`);
  return source ? { type: 'image', source, ...cacheOf(block) } : opaque(block, place);
}

function fromDocument(block: Members, place: Place): DocumentPart | OpaquePart {
  const { path, unmapped } = place;
  const told = readObject(block['source'], `${path}.source`);
  const source = fromTextSource(told) ?? fromSource(told, `${path}.source`);
  if (!source) return opaque(block, place);
  const { title, context, citations } = block;
  if (typeof context === 'string') unmapped.add(`${path}.context`);
  if (isJsonObject(citations) && citations['enabled'] === true) unmapped.add(`${path}.citations`);
  const name = typeof title === 'string' && title !== '' ? title : undefined;
  return { type: 'document', source, ...(name !== undefined && { name }), ...cacheOf(block) };
}

/** Undefined for sources that only the provider knows, as files that were sent to it. */
function fromSource(source: Members, path: string): MediaSource | undefined {
  if (source['type'] === 'url') return { type: 'url', url: readText(source, 'url', path) };
  if (source['type'] !== 'base64') return undefined;
  const mediaType = readText(source, 'media_type', path);
  return dataSource(mediaType, readText(source, 'data', path));
}

function fromTextSource({ type, data, content }: Members): DocumentPart['source'] | undefined {
  if (type === 'text' && typeof data === 'string') return { type: 'text', text: data };
  if (type !== 'content') return undefined;
  if (typeof content === 'string') return { type: 'text', text: content };
  const texts = textsOf(content);
  return texts && { type: 'text', text: texts.join('\n') };
}

/** Undefined when there is anything but text. */
function textsOf(blocks: unknown): string[] | undefined {
  if (!Array.isArray(blocks)) return undefined;
  const texts = blocks.map((block: unknown) => (isJsonObject(block) ? block['text'] : undefined));
  return texts.every((text) => typeof text === 'string') ? texts : undefined;
}

/** Reads a search result as text with its source; no other protocol has such a block. */
function fromSearchResult(block: Members, { path, unmapped }: Place): TextPart {
  const { citations } = block;
  if (isJsonObject(citations) && citations['enabled'] === true) unmapped.add(`${path}.citations`);
  const texts = textsOf(block['content']);
  if (!texts) throw invalid(`${path}.content`, 'an array of text blocks');
  const head = [readText(block, 'title', path), readText(block, 'source', path)];
  return { type: 'text', text: [...head, '', ...texts].join('\n'), ...cacheOf(block) };
}

function fromToolUse(block: Members, { path, writer, unmapped }: Place): ToolCallPart {
  const { input } = block;
  if (!(input instanceof RawJson) && !isJsonObject(input))
    throw invalid(`${path}.input`, 'an object');
  if (writer === 'client' && isJsonObject(block['cache_control']))
    unmapped.add(`${path}.cache_control`);
  return {
    type: 'tool_call',
    id: readText(block, 'id', path),
    name: readText(block, 'name', path),
    arguments: toArguments(input),
  };
}

function fromToolResult(block: Members, place: Place): ToolResultPart {
  const { content } = block;
  const parts = isAbsent(content)
    ? []
    : fromContent(content, { ...place, path: `${place.path}.content` });
  return {
    type: 'tool_result',
    callId: readText(block, 'tool_use_id', place.path),
    content: parts.map((part, index) => {
      if (isResultContent(part)) return part;
      throw invalid(`${place.path}.content[${index}].type`, 'what a tool can result in');
    }),
    isError: block['is_error'] === true,
    ...cacheOf(block),
  };
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isResultContent(part: Part): part is ToolResultPart['content'][number] {
  return ['text', 'image', 'document', 'opaque'].includes(part.type);
}

export function cacheOf({ cache_control: cache }: Members): { cache?: CacheMark } {
  if (!isJsonObject(cache)) return {};
  return { cache: { ttl: cache['ttl'] === '1h' ? '1h' : '5m' } };
}
