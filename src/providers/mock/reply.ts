import type { CassetteReply } from './tape/cassette.ts';
import type { Turn } from './conversation.ts';
import type { MockRequest } from './mock-request.ts';
import { countTokens } from './tokens.ts';
import { splitInto, splitWords } from './split.ts';

export interface ReplyToolCall {
  id: string;
  name: string;
  /** The exact text; JSON unless a cassette says otherwise. */
  arguments: string;
  chunks: string[];
}

export interface ReplyUsage {
  /** Uncached. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** Includes `reasoning`. */
  output: number;
  reasoning: number;
}

/** Reply of the mock, before any protocol: every renderer draws from this. */
export interface Reply {
  text: string;
  textChunks: string[];
  reasoning: string;
  reasoningChunks: string[];
  toolCalls: ReplyToolCall[];
  refusal: string | undefined;
  refusalChunks: string[];
  /** stop, length, tool_calls, content_filter, or the exact value of a protocol. */
  finish: string;
  usage: ReplyUsage | undefined;
  /** The vector for each input; undefined derives one from the input. */
  embedding: number[] | undefined;
}

const MAX_ECHO = 4000;
const MAX_CHUNKS = 100;
const ARGUMENT_CHUNKS = 4;

/** Completes what a cassette scripted; with nothing scripted it echoes the last user text or tool result. */
export function toReply(scripted: CassetteReply, request: MockRequest, id: string): Reply {
  const pieces = scripted.chunks;
  const says = ['text', 'reasoning', 'tool_calls', 'refusal'].some((name) => name in scripted);
  const text = Array.isArray(pieces)
    ? pieces.join('')
    : (scripted.text ?? (says ? '' : defaultText(request.turns)));
  const toolCalls = (scripted.tool_calls ?? []).map((call, i): ReplyToolCall => {
    const args =
      typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    return {
      id: call.id ?? `call_${id.slice(0, 20)}${String(i).padStart(4, '0')}`,
      name: call.name,
      arguments: args,
      chunks: splitInto(args, typeof pieces === 'number' ? pieces : ARGUMENT_CHUNKS),
    };
  });
  const split = (value: string): string[] =>
    typeof pieces === 'number' ? splitInto(value, pieces) : splitWords(value, MAX_CHUNKS);
  const reply: Omit<Reply, 'usage'> = {
    text,
    textChunks: Array.isArray(pieces) ? pieces : split(text),
    reasoning: scripted.reasoning ?? '',
    reasoningChunks: split(scripted.reasoning ?? ''),
    toolCalls,
    refusal: scripted.refusal,
    refusalChunks: split(scripted.refusal ?? ''),
    embedding: scripted.embedding,
    finish: scripted.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
  };
  return { usage: toUsage(scripted, request.inputTokens, reply), ...reply };
}

function defaultText(turns: readonly Turn[]): string {
  const last = turns.findLast(({ role }) => role === 'user' || role === 'tool');
  if (!last?.text) return 'Hello from the mock provider.';
  const text = last.text.length > MAX_ECHO ? `${last.text.slice(0, MAX_ECHO)}…` : last.text;
  return last.role === 'tool' ? `The tool said: ${text}` : `You said: ${text}`;
}

function toUsage(
  { usage }: CassetteReply,
  inputTokens: number,
  reply: Omit<Reply, 'usage'>,
): ReplyUsage | undefined {
  if (usage === null) return undefined;
  const reasoning = usage?.reasoning_tokens ?? countTokens(reply.reasoning);
  const said = [
    reply.text,
    reply.refusal ?? '',
    ...reply.toolCalls.map((call) => call.name + call.arguments),
  ];
  return {
    input: usage?.input_tokens ?? inputTokens,
    cacheRead: usage?.cache_read_tokens ?? 0,
    cacheWrite: usage?.cache_write_tokens ?? 0,
    output:
      usage?.output_tokens ?? reasoning + said.reduce((sum, part) => sum + countTokens(part), 0),
    reasoning,
  };
}
