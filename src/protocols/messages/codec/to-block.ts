import { Buffer } from 'node:buffer';
import { RawJson } from '../../../core/json/raw.ts';
import { membersOfText } from '../../../core/json/scan-text.ts';
import type {
  CacheMark,
  DocumentPart,
  MediaSource,
  Part,
  TextPart,
  ToolResultPart,
} from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { toCitation } from './citations.ts';
import type { Members } from './members.ts';
import { toClientThinking, toProviderThinking } from './thinking.ts';

/** A part of a request to a provider; undefined where no block can express it. */
export function toRequestBlock(part: Part, losses: Set<Feature>): Members | undefined {
  switch (part.type) {
    case 'text':
      if (part.citations) losses.add('citations');
      return textBlock(part.text, part.cache);
    case 'refusal':
      losses.add('refusals');
      return textBlock(part.text);
    case 'image':
      if (part.detail !== undefined) losses.add('image_detail');
      return { type: 'image', source: toSource(part.source), ...cacheControl(part.cache) };
    case 'document':
      return documentBlock(part);
    case 'tool_call':
      return {
        type: 'tool_use',
        id: toToolId(part.id),
        name: part.name,
        input: toInput(part.arguments, losses),
      };
    case 'tool_result':
      return resultBlock(part, losses);
    case 'reasoning': {
      const block = toProviderThinking(part);
      if (!block) losses.add('reasoning_signatures');
      return block;
    }
    case 'audio':
      losses.add('audio');
      return undefined;
    case 'opaque':
  }
  return ownBlock(part, losses);
}

/** A part of an answer to a client; undefined where no block can express it. */
export function toAnswerBlock(part: Part, losses: Set<Feature>): Members | undefined {
  if (part.type === 'reasoning') return toClientThinking(part);
  if (part.type === 'tool_call') {
    const input = toInput(part.arguments, losses);
    return { type: 'tool_use', id: part.id, name: part.name, input };
  }
  // Answers of this protocol hold no media, and some of its clients refuse unknown blocks.
  if (part.type === 'image' || part.type === 'document') {
    losses.add(part.type === 'image' ? 'images' : 'documents');
    return undefined;
  }
  if (part.type !== 'text') return toRequestBlock(part, losses);
  if (part.logprobs) losses.add('logprobs');
  const block = textBlock(part.text);
  return block && part.citations ? { ...block, citations: part.citations.map(toCitation) } : block;
}

/** Undefined for an empty text, which providers refuse. */
function textBlock(text: string, cache?: CacheMark): Members | undefined {
  return text === '' ? undefined : { type: 'text', text, ...cacheControl(cache) };
}

export function cacheControl(cache: CacheMark | undefined): Members {
  if (!cache) return {};
  return { cache_control: { type: 'ephemeral', ...(cache.ttl === '1h' && { ttl: '1h' }) } };
}

function toSource(source: MediaSource): Members {
  if (source.type === 'url') return { type: 'url', url: source.url };
  return { type: 'base64', media_type: source.mediaType, data: source.data };
}

function documentBlock({ source, name, cache }: DocumentPart): Members {
  return {
    type: 'document',
    source:
      source.type === 'text'
        ? { type: 'text', media_type: 'text/plain', data: source.text }
        : toSource(source),
    ...(name !== undefined && { title: name }),
    ...cacheControl(cache),
  };
}

function resultBlock(part: ToolResultPart, losses: Set<Feature>): Members {
  const { content, isError, cache } = part;
  const [first] = content;
  const isPlain = content.length === 1 && first?.type === 'text' && !isMarked(first);
  const blocks = content
    .map((one) => toRequestBlock(one, losses))
    .filter((one) => one !== undefined);
  return {
    type: 'tool_result',
    tool_use_id: toToolId(part.callId),
    ...(content.length > 0 && { content: isPlain ? first.text : blocks }),
    ...(isError && { is_error: true }),
    ...cacheControl(cache),
  };
}

function isMarked({ citations, cache }: TextPart): boolean {
  return citations !== undefined || cache !== undefined;
}

/** Returns the input as the model wrote it; arguments that are no object cannot be expressed. */
function toInput(text: string, losses: Set<Feature>): RawJson | Members {
  if (text.trim() === '') return {};
  if (membersOfText(text)) return new RawJson(text);
  losses.add('tool_arguments');
  return {};
}

/** Other protocols put any characters into the ids of calls; here they must be word characters. */
function toToolId(id: string): string {
  return /^[\w-]+$/.test(id) ? id : `toolu_${Buffer.from(id).toString('base64url')}`;
}

function ownBlock(
  { origin, value }: Extract<Part, { type: 'opaque' }>,
  losses: Set<Feature>,
): Members | undefined {
  if (origin === 'messages') return value as Members;
  losses.add('builtin_tools');
  return undefined;
}
