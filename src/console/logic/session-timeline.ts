import type { SessionEvent, SessionRow } from '../api/views.ts';

/** A tool call with what became of it. */
export interface ToolBlock {
  readonly kind: 'tool';
  readonly id: string;
  readonly at: string;
  readonly name: string;
  readonly server: string | undefined;
  readonly input: unknown;
  /** True for a tool that the client of the Session answers. */
  readonly isCustom: boolean;
  state: 'waiting' | 'running' | 'done' | 'failed' | 'denied';
  /** Type of the event that answers it while it waits for the result of a tool; undefined: a permission. */
  resultType: string | undefined;
  result: string | undefined;
  /** Milliseconds from the call to its result. */
  ms: number | undefined;
}

export interface TextBlock {
  readonly kind: 'user' | 'agent' | 'thinking' | 'system';
  readonly id: string;
  readonly at: string;
  readonly text: string;
}

/** Something that happened between the messages: an error, a takeover, an end. */
export interface MarkBlock {
  readonly kind: 'mark';
  readonly id: string;
  readonly at: string;
  readonly tone: 'dim' | 'warn' | 'bad';
  readonly text: string;
}

export type Block = ToolBlock | TextBlock | MarkBlock;

export interface Turn {
  readonly id: string;
  readonly at: string;
  readonly blocks: Block[];
  modelRequests: number;
  inputTokens: number;
  outputTokens: number;
  endedAt: string | undefined;
}

const TEXTS: Readonly<Record<string, TextBlock['kind']>> = {
  'user.message': 'user',
  'agent.message': 'agent',
  'agent.thinking': 'thinking',
  'system.message': 'system',
};
const RESULTS = ['tool_use_id', 'mcp_tool_use_id', 'custom_tool_use_id'] as const;

/**
 * Turns of a Session from its events in their order; an event that comes twice counts once.
 *
 * @param waiting the calls that the Session waits for, as the gateway says
 */
export function toTimeline(
  events: readonly SessionEvent[],
  waiting?: SessionRow['waiting'],
): Turn[] {
  const timeline = new Timeline();
  const seen = new Set<string>();
  for (const event of events) {
    if (seen.has(event.id)) continue;
    seen.add(event.id);
    timeline.take(event);
  }
  for (const call of waiting?.calls ?? []) timeline.wait(call.id, call.answered_by);
  return timeline.turns;
}

class Timeline {
  readonly turns: Turn[] = [];
  readonly #tools = new Map<string, ToolBlock>();

  take(event: SessionEvent): void {
    const { type } = event;
    const text = TEXTS[type];
    if (type === 'user.message') this.#begin(event);
    if (text) this.#put({ kind: text, id: event.id, at: event.processed_at, text: textOf(event) });
    else if (type.endsWith('tool_use')) this.#call(event);
    else if (type.endsWith('tool_result')) this.#answer(event);
    else if (type === 'user.tool_confirmation') this.#confirm(event);
    else if (type === 'span.model_request_end') this.#count(event);
    else if (type === 'session.status_idle') this.#rest(event);
    else this.#mark(event);
  }

  /** Notes that a call waits for an event of this type; one that has its result waits no longer. */
  wait(id: string, type: string): void {
    const tool = this.#tools.get(id);
    if (!tool || tool.result !== undefined) return;
    tool.state = 'waiting';
    tool.resultType = type === 'user.tool_confirmation' ? undefined : type;
  }

  #begin({ id, processed_at: at }: SessionEvent): void {
    this.turns.push({
      id,
      at,
      blocks: [],
      modelRequests: 0,
      inputTokens: 0,
      outputTokens: 0,
      endedAt: undefined,
    });
  }

  #put(block: Block): void {
    if (this.turns.length === 0)
      this.#begin({ id: block.id, processed_at: block.at, type: 'system.message' });
    this.turns.at(-1)?.blocks.push(block);
  }

  #call(event: SessionEvent): void {
    const permission = event['evaluated_permission'];
    const tool: ToolBlock = {
      kind: 'tool',
      id: event.id,
      at: event.processed_at,
      name: event['name'] as string,
      server: event['mcp_server_name'] as string | undefined,
      input: event['input'],
      isCustom: event.type === 'agent.custom_tool_use',
      state: permission === 'ask' ? 'waiting' : permission === 'deny' ? 'denied' : 'running',
      resultType: undefined,
      result: undefined,
      ms: undefined,
    };
    this.#tools.set(event.id, tool);
    this.#put(tool);
  }

  #answer(event: SessionEvent): void {
    const id = RESULTS.map((member) => event[member]).find((one) => typeof one === 'string');
    const tool = this.#tools.get(id ?? '');
    if (!tool) return;
    if (tool.state !== 'denied') tool.state = event['is_error'] === true ? 'failed' : 'done';
    tool.result = textOf(event);
    tool.ms = Date.parse(event.processed_at) - Date.parse(tool.at);
  }

  #confirm(event: SessionEvent): void {
    const tool = this.#tools.get(event['tool_use_id'] as string);
    if (tool) tool.state = event['result'] === 'allow' ? 'running' : 'denied';
  }

  #count(event: SessionEvent): void {
    const turn = this.turns.at(-1);
    const usage = (event['model_usage'] ?? {}) as Record<string, number | undefined>;
    if (!turn) return;
    turn.modelRequests++;
    turn.inputTokens += usage['input_tokens'] ?? 0;
    turn.outputTokens += usage['output_tokens'] ?? 0;
  }

  #rest(event: SessionEvent): void {
    const { type = '' } = (event['stop_reason'] ?? {}) as { type?: string };
    const turn = this.turns.at(-1);
    if (turn && type !== 'requires_action') turn.endedAt = event.processed_at;
    if (type !== '' && type !== 'end_turn' && type !== 'requires_action')
      this.#put({
        kind: 'mark',
        id: event.id,
        at: event.processed_at,
        tone: 'warn',
        text: `stopped: ${type.replaceAll('_', ' ')}`,
      });
  }

  #mark(event: SessionEvent): void {
    const found = MARKS[event.type]?.(event);
    if (found) this.#put({ kind: 'mark', id: event.id, at: event.processed_at, ...found });
  }
}

const MARKS: Readonly<Record<string, (event: SessionEvent) => Pick<MarkBlock, 'tone' | 'text'>>> = {
  'user.interrupt': () => ({ tone: 'warn', text: 'interrupted' }),
  'session.status_rescheduled': () => ({
    tone: 'warn',
    text: 'taken over: the turn goes on from its last recorded step',
  }),
  'session.status_terminated': () => ({ tone: 'dim', text: 'ended' }),
  'session.error': (event) => ({ tone: 'bad', text: messageOf(event) }),
};

function messageOf(event: SessionEvent): string {
  const { message } = (event['error'] ?? event) as { message?: unknown };
  return typeof message === 'string' ? message : 'an error';
}

/** Text of the content of an event; other parts by their type. */
function textOf(event: SessionEvent): string {
  const content = event['content'];
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return typeof event['text'] === 'string' ? event['text'] : '';
  return (content as { type?: string; text?: string }[])
    .map((part) => part.text ?? `[${part.type ?? 'part'}]`)
    .join('\n');
}

/** Tool calls that wait for a decision. */
export function waitingTools(turns: readonly Turn[]): ToolBlock[] {
  return turns
    .flatMap(({ blocks }) => blocks)
    .filter((block): block is ToolBlock => block.kind === 'tool' && block.state === 'waiting');
}
