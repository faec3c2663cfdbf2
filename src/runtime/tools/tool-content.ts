import { isJsonObject } from '../../core/json-value.ts';
import type { ToolOutcome } from './tool-server.ts';

/** Characters of all texts of one result; models read no more of it. */
const MAX_TEXT = 256 * 1024;
/** Base64 characters of one image. */
const MAX_IMAGE = 8 * 1024 * 1024;

type Block = ToolOutcome['content'][number];

/** A result of `tools/call` in the content blocks of events. What has no block of its own is told as text. */
export function fromMcpResult(result: Readonly<Record<string, unknown>>): ToolOutcome {
  const { content, structuredContent, isError } = result;
  const blocks = Array.isArray(content) ? content.filter(isJsonObject).map(toBlock) : [];
  const told =
    blocks.length === 0 && structuredContent !== undefined
      ? [toText(JSON.stringify(structuredContent))]
      : blocks;
  return { content: shorten(told), isError: isError === true };
}

/** An outcome that says why there is no result. */
export function toFailedOutcome(message: string): ToolOutcome {
  return { content: [toText(message)], isError: true };
}

function toBlock(block: Block): Block {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return toText(text);
  if (type === 'image' && typeof data === 'string' && data.length <= MAX_IMAGE)
    return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
  const { resource } = block;
  if (type === 'resource' && isJsonObject(resource) && typeof resource['text'] === 'string')
    return toText(resource['text']);
  return toText(JSON.stringify({ ...block, ...(data !== undefined && { data: '…' }) }));
}

function toText(text: string): Block {
  return { type: 'text', text };
}

function shorten(blocks: readonly Block[]): Block[] {
  let room = MAX_TEXT;
  return blocks.map((block) => {
    const { text } = block;
    if (typeof text !== 'string') return block;
    const kept = text.length <= room ? text : `${text.slice(0, room)}… (cut off)`;
    room = Math.max(0, room - text.length);
    return toText(kept);
  });
}
