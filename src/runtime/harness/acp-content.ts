import type { ContentBlock, PromptCapabilities } from '@agentclientprotocol/sdk';
import { isJsonObject } from '../../core/json/value.ts';
import type { ToolOutcome } from '../tools/tool-server.ts';
import { fromMcpResult } from '../tools/tool-content.ts';
import type { HarnessPrompt } from './harness-agent.ts';
import { toTranscript } from './history.ts';

/** The content of a turn in the blocks that the agent says it takes. */
export function toAcpPrompt(
  { inputs, history }: HarnessPrompt,
  instructions: string,
  capabilities: PromptCapabilities,
): ContentBlock[] {
  const opening = history && instructions !== '' ? [toText(instructions)] : [];
  const before = history && history.length > 0 ? [toText(toTranscript(history))] : [];
  const said = inputs.flatMap(({ content }) => toBlocks(content, capabilities));
  return [...opening, ...before, ...said];
}

/** The text of a content block in which an agent speaks. */
export function fromAcpText(content: unknown): string {
  if (!isJsonObject(content)) return '';
  const { type, text, uri } = content;
  if (type === 'text' && typeof text === 'string') return text;
  return typeof uri === 'string' ? uri : `(${String(type)})`;
}

/** Reads the outcome of a tool call. */
export function fromAcpResult(call: Readonly<Record<string, unknown>>): ToolOutcome {
  const parts = Array.isArray(call['content']) ? call['content'].filter(isJsonObject) : [];
  const content = parts.flatMap((part): unknown[] => {
    if (part['type'] === 'content') return [part['content']];
    const { type, path, newText } = part;
    return type === 'diff' ? [{ type: 'text', text: `${String(path)}\n${String(newText)}` }] : [];
  });
  return fromMcpResult({
    content,
    structuredContent: call['rawOutput'],
    isError: call['status'] === 'failed',
  });
}

function toBlocks(content: unknown, capabilities: PromptCapabilities): ContentBlock[] {
  if (typeof content === 'string') return [toText(content)];
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return blocks.map((block) => toBlock(block, capabilities));
}

function toBlock(
  block: Readonly<Record<string, unknown>>,
  capabilities: PromptCapabilities,
): ContentBlock {
  const { type, text, source, title } = block;
  if (type === 'text') return toText(String(text));
  const { type: kind, data, url, media_type: mimeType } = isJsonObject(source) ? source : {};
  const name = typeof title === 'string' ? title : String(type);
  if (typeof url === 'string') return { type: 'resource_link', name, uri: url };
  if (kind === 'text') return toText(String(data));
  const isEncoded = kind === 'base64' && typeof data === 'string' && typeof mimeType === 'string';
  if (isEncoded && type === 'image' && capabilities.image) return { type: 'image', data, mimeType };
  if (isEncoded && type === 'document' && capabilities.embeddedContext)
    return { type: 'resource', resource: { uri: `attachment:${name}`, mimeType, blob: data } };
  // The agent must know that there was more than it can see.
  return toText(`(an attachment that you cannot read: ${name})`);
}

function toText(text: string): ContentBlock {
  return { type: 'text', text };
}
