import { stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { redactSecrets } from '../../core/redact.ts';
import { isCommonImage, isInlineData } from '../../resources/files/inline-media.ts';
import type { ToolOutcome } from './tool-server.ts';

/** Characters of all texts of one result; the rest is cut. */
const MAX_TEXT = 256 * 1024;
/** Base64 characters of all images of one result; it has to fit into one event. */
const MAX_IMAGES = 8 * 1024 * 1024;
/** Parts of one result. */
const MAX_BLOCKS = 256;

type Block = ToolOutcome['content'][number];

/**
 * A result of `tools/call` in the content blocks of events. Parts without a block type become text.
 *
 * @param secrets that the server was given; in no text, whatever it says
 */
export function fromMcpResult(
  result: Readonly<Record<string, unknown>>,
  secrets: readonly string[] = [],
): ToolOutcome {
  const { content, structuredContent, isError } = result;
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const blocks = parts.slice(0, MAX_BLOCKS).map(toBlock);
  if (parts.length > MAX_BLOCKS)
    blocks.push(toText(`… (${parts.length - MAX_BLOCKS} further parts are left out)`));
  const told =
    blocks.length === 0 && structuredContent !== undefined
      ? [toText(toStructuredText(structuredContent))]
      : blocks;
  return {
    content: shorten(told.map((block) => clean(block, secrets))),
    isError: isError === true,
  };
}

/** Transports that keep no numbers as they were written give the text itself. */
function toStructuredText(content: unknown): string {
  return typeof content === 'string' ? content : stringifyWithRaw(content);
}

/** An outcome that says why there is no result. */
export function toFailedOutcome(message: string): ToolOutcome {
  return { content: [toText(message)], isError: true };
}

function toBlock(block: Block): Block {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return toText(text);
  if (type === 'image' && isImage(data, mimeType))
    return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
  const { resource } = block;
  if (type === 'resource' && isJsonObject(resource) && typeof resource['text'] === 'string')
    return toText(resource['text']);
  return toText(stringifyWithRaw({ ...block, ...(data !== undefined && { data: '…' }) }));
}

/** A wrong one stays in the conversation, and providers would refuse all that follows. */
function isImage(data: unknown, mimeType: unknown): boolean {
  return typeof data === 'string' && isCommonImage(String(mimeType)) && isInlineData(data);
}

/** Masks before it cuts off: half a secret would not be known for one. */
function clean(block: Block, secrets: readonly string[]): Block {
  const { text } = block;
  return typeof text === 'string' ? toText(redactSecrets(text, secrets)) : block;
}

function toText(text: string): Block {
  return { type: 'text', text };
}

function shorten(blocks: readonly Block[]): Block[] {
  let [text, images] = [MAX_TEXT, MAX_IMAGES];
  return blocks.map((block) => {
    if (typeof block['text'] !== 'string') {
      const { length } = JSON.stringify(block);
      if (length > images) return toText('(an image that is too large is left out)');
      images -= length;
      return block;
    }
    const { length } = block['text'];
    const kept = length <= text ? block['text'] : `${block['text'].slice(0, text)}… (cut off)`;
    text = Math.max(0, text - length);
    return toText(kept);
  });
}
