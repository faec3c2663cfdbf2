import { GatewayError } from '../../core/errors.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { Part, ToolResultPart, Turn } from '../../protocols/canonical/canonical.ts';
import { fromBlock } from '../../protocols/messages/codec/from-block.ts';
import { fileOf } from '../../resources/files/message-files.ts';
import type { SessionEvent } from '../../sessions/log/session-event.ts';
import type { AttachedFiles, Block } from './attached-files.ts';
import type { ToolResult, ToolUse } from '../tools/tool-use.ts';
import { toVisibleName } from '../tools/visible-name.ts';

/** Result that the model sees for a call that was given up. */
export const INTERRUPTED: ToolResult = {
  content: [{ type: 'text', text: 'The call was interrupted and has no result.' }],
  isError: true,
};

/** Addition of one input or one answer to the conversation. */
export type Entry =
  | { readonly type: 'input'; readonly event: SessionEvent }
  | { readonly type: 'answer'; readonly parts: AnswerPart[] };

export type AnswerPart = Part | { readonly type: 'use'; readonly use: ToolUse };

/** The conversation as the model gets it, each answer followed by the results of its calls. */
export function toTurns(entries: readonly Entry[]): Turn[] {
  return entries.flatMap((entry) =>
    entry.type === 'input' ? [toInputTurn(entry.event)] : toAnswerTurns(entry.parts),
  );
}

/** Content of an event, in either of its two forms; nothing where there is none. */
export function readContent(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(readBlock) : [];
}

/** The same for what a tool can result in. */
export function readResultContent(content: unknown): ToolResult['content'] {
  return readContent(content).filter(
    (part): part is ToolResult['content'][number] =>
      part.type === 'text' ||
      part.type === 'image' ||
      part.type === 'document' ||
      part.type === 'opaque',
  );
}

/** The conversation with the files that it names. */
export async function withFiles(turns: readonly Turn[], files: AttachedFiles): Promise<Turn[]> {
  const named = turns.flatMap(({ parts }) => parts.flatMap(blocksOf)).filter(namesFile);
  if (named.length === 0) return [...turns];
  const content = await files.toContent(named);
  const found = new Map(named.map((block, index) => [block, readBlock(content[index])]));
  const fill = <T extends Part>(part: T): T =>
    (part.type === 'opaque' && (found.get(part.value as Block) as T | undefined)) || part;
  return turns.map(({ parts, ...turn }) => ({
    ...turn,
    parts: parts.map((part) =>
      part.type === 'tool_result' ? { ...part, content: part.content.map(fill) } : fill(part),
    ),
  }));
}

function blocksOf(part: Part): Block[] {
  if (part.type === 'tool_result') return part.content.flatMap(blocksOf);
  return part.type === 'opaque' && isJsonObject(part.value) ? [part.value] : [];
}

function namesFile(block: Block): boolean {
  return fileOf(block) !== undefined;
}

/** An invalid block becomes text: the log is final, and one block must not end a Session. */
function readBlock(block: unknown): Part {
  try {
    return fromBlock(block, { path: 'content', writer: 'client', unmapped: new Set() });
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { type: 'text', text: JSON.stringify(block) };
    throw thrown;
  }
}

function toInputTurn({ type, content }: SessionEvent): Turn {
  return { role: type === 'system.message' ? 'system' : 'user', parts: readContent(content) };
}

function toAnswerTurns(parts: readonly AnswerPart[]): Turn[] {
  if (parts.length === 0) return [];
  const uses = parts.flatMap((part) => (part.type === 'use' ? [part.use] : []));
  const said = parts.map((part): Part => (part.type === 'use' ? toCall(part.use) : part));
  const answer: Turn = { role: 'assistant', parts: said };
  return uses.length === 0 ? [answer] : [answer, { role: 'tool', parts: uses.map(toResult) }];
}

function toCall({ id, kind, name, server, input }: ToolUse): Part {
  return {
    type: 'tool_call',
    id,
    name: kind === 'mcp' ? toVisibleName(server ?? '', name) : name,
    arguments: stringifyWithRaw(input),
  };
}

/** A call must not stay without a result: providers refuse such a conversation. */
function toResult({ id, result = INTERRUPTED }: ToolUse): ToolResultPart {
  return { type: 'tool_result', callId: id, ...result };
}
