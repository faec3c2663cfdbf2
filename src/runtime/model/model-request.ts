import type {
  CanonicalRequest,
  FunctionTool,
  Part,
  Turn,
} from '../../protocols/canonical/canonical.ts';
import type { AgentModel } from '../../sessions/resolved-agent.ts';
import type { AttachedFiles } from '../turn/attached-files.ts';
import { toTurns, withFiles } from '../turn/conversation.ts';
import type { Entry } from '../turn/conversation.ts';

export interface ModelRequestParts {
  readonly model: AgentModel;
  readonly instructions: string;
  readonly entries: readonly Entry[];
  readonly tools: readonly FunctionTool[];
  readonly files: AttachedFiles;
}

/** Builds the request to the Agent's model: instructions, tools and the conversation so far. */
export async function toModelRequest({
  model,
  instructions,
  entries,
  tools,
  files,
}: ModelRequestParts): Promise<CanonicalRequest> {
  const told = toTurns(entries).filter(({ parts }) => parts.length > 0);
  const turns = await withFiles(told, files);
  const effort = model.effort?.type;
  return {
    turns: [...toSystem(instructions), ...withCacheMark(turns)],
    tools,
    ...(effort !== undefined && { reasoning: { effort } }),
    stream: true,
    unmapped: [],
  };
}

function toSystem(text: string): Turn[] {
  return text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }];
}

/** The next request repeats all of this one: providers that keep prompts shall keep it. */
function withCacheMark(turns: readonly Turn[]): Turn[] {
  const last = turns.at(-1);
  const part = last?.parts.at(-1);
  if (!last || !part || !isMarkable(part)) return [...turns];
  const marked: Part = Object.assign({}, part, { cache: { ttl: '5m' } as const });
  return [...turns.slice(0, -1), { ...last, parts: [...last.parts.slice(0, -1), marked] }];
}

function isMarkable(
  part: Part,
): part is Extract<Part, { type: 'text' | 'image' | 'document' | 'tool_result' }> {
  return ['text', 'image', 'document', 'tool_result'].includes(part.type);
}
