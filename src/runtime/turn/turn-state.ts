import { approximateSize } from '../../core/json/approximate-size.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { Part } from '../../protocols/canonical/canonical.ts';
import type { InputType, PlacedEvent, SessionEvent } from '../../sessions/log/session-event.ts';
import { hasAttachments, withoutAttachments } from './attachments.ts';
import { addQuestion } from './elicitations.ts';
import { readContent, readResultContent } from './conversation.ts';
import type { AnswerPart, Entry } from './conversation.ts';
import type { ToolUse } from '../tools/tool-use.ts';

const INPUTS: ReadonlySet<string> = new Set<InputType>([
  'user.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'user.tool_result',
  'system.message',
]);

/** `waiting`: idle in the middle of a turn, for the client. */
export type Phase = 'idle' | 'waiting' | 'running' | 'rescheduled' | 'terminated';

interface ClosedRequest {
  readonly isError: boolean;
  readonly isTooLong: boolean;
  /** The provider refused it, and it may be for its images or documents. */
  readonly isRefused: boolean;
}

/**
 * State of a Session, read from its events and nothing else: the same after a crash. A message that
 * is sent while a turn runs joins the conversation when its own turn begins.
 */
export class TurnState {
  /** Position of the last event that was taken. */
  seq = 0;
  /** Characters of the events that were taken, about. */
  chars = 0;
  /** Position of the last of them that a client sent. */
  lastInput = 0;
  phase: Phase = 'idle';
  readonly entries: Entry[] = [];
  /** Tokens of entries that no longer change, as far as they were counted. */
  readonly sizes = new WeakMap<Entry, number>();
  /** Turns that have begun. */
  turns = 0;
  /** Index of the entry with which the last turn begins. */
  turnStart = 0;
  /** Entries of the conversation that are left out by now, its oldest. */
  leftOut = 0;
  /** The provider says that the conversation is longer than its model can read. */
  isTooLong = false;
  /** Calls of the last answer of the turn. */
  uses: ToolUse[] = [];
  /** Ids of the last `requires_action`. */
  waitingFor: readonly string[] = [];
  /** Id of a model request that has not ended. */
  requestId: string | undefined;
  /** Answers of the turn that called tools. */
  rounds = 0;
  /** Failed model requests since the last answer. */
  failures = 0;
  /** Position of the last input when the turn began or continued: its calls may be in flight. */
  calledAt = 0;
  /** The client wants the turn to end that runs or is next. */
  isInterrupted = false;
  #queue: SessionEvent[] = [];
  #answer: AnswerPart[] | undefined;

  take({ seq, event }: PlacedEvent): void {
    if (seq <= this.seq) return;
    this.seq = seq;
    this.chars += approximateSize(event);
    if (INPUTS.has(event.type)) this.lastInput = seq;
    if (event.type === 'user.message' || event.type === 'system.message') this.#queue.push(event);
    else if (event.type === 'user.interrupt') this.#interrupt();
    else HANDLERS[event.type]?.(this, event);
  }

  get hasMessage(): boolean {
    return this.#queue.some(({ type }) => type === 'user.message');
  }

  /**
   * Entries that the model can do without, the oldest first: neither the input of the turn nor the
   * last answer.
   */
  get dispensable(): Entry[] {
    const { entries, turnStart } = this;
    return [...entries.slice(0, turnStart), ...entries.slice(this.#turnAnswers, -1)];
  }

  start(): void {
    if (this.phase === 'idle') this.#begin();
    if (this.phase === 'idle' || this.phase === 'waiting') this.calledAt = this.lastInput;
    this.phase = 'running';
    this.waitingFor = [];
  }

  rest(reason: unknown): void {
    const { type, event_ids: ids } = isJsonObject(reason) ? reason : {};
    this.waitingFor = type === 'requires_action' && Array.isArray(ids) ? (ids as string[]) : [];
    this.phase = this.waitingFor.length > 0 ? 'waiting' : 'idle';
    if (this.phase === 'waiting') return;
    this.isInterrupted = false;
    this.uses = [];
    this.#answer = undefined;
  }

  /** `leftOut` of the dispensable entries are out of the conversation from now on. */
  openRequest(id: string, leftOut: number): void {
    const older = Math.min(leftOut, this.turnStart);
    this.entries.splice(this.#turnAnswers, leftOut - older);
    this.entries.splice(0, older);
    this.turnStart -= older;
    this.leftOut += leftOut;
    this.requestId = id;
    this.isTooLong = false;
    this.#answer = undefined;
    this.uses = [];
  }

  /** True when the next request is the first with some image or document. */
  get hasNewAttachments(): boolean {
    return this.entries.slice(this.#firstNew).some(hasAttachments);
  }

  closeRequest({ isError, isTooLong, isRefused }: ClosedRequest): void {
    this.requestId = undefined;
    this.isTooLong = isTooLong;
    if (isRefused) this.#leaveAttachments();
    if (isError) return;
    this.failures = 0;
    if (this.uses.length > 0) this.rounds++;
  }

  reschedule(): void {
    this.phase = 'rescheduled';
    this.failures++;
  }

  say(...parts: Part[]): void {
    this.#open().push(...parts);
  }

  call(use: ToolUse): void {
    this.uses.push(use);
    this.#open().push({ type: 'use', use });
  }

  /** The open call of that id. */
  find(id: unknown): ToolUse | undefined {
    return this.uses.find((use) => use.id === id);
  }

  /** Means nothing where nothing was asked for before. */
  #interrupt(): void {
    if (this.phase !== 'idle' || this.hasMessage) this.isInterrupted = true;
  }

  /** Takes up the next message with what the operator's side said around it. */
  #begin(): void {
    this.turns++;
    this.turnStart = this.entries.length;
    this.rounds = 0;
    this.failures = 0;
    const first = this.#queue.findIndex(({ type }) => type === 'user.message');
    if (first < 0) return;
    const next = this.#queue.findIndex(
      ({ type }, index) => index > first && type === 'user.message',
    );
    const taken = this.#queue.splice(0, next < 0 ? this.#queue.length : next);
    for (const event of taken) this.entries.push({ type: 'input', event });
  }

  /** Leaves out what no request had before: those that follow would be refused as well. */
  #leaveAttachments(): void {
    const news = this.entries.splice(this.#firstNew);
    this.entries.push(...news.map((one) => (hasAttachments(one) ? withoutAttachments(one) : one)));
  }

  /** Index of the last answer, whose results are new as well, or of the first entry. */
  get #firstNew(): number {
    return Math.max(
      0,
      this.entries.findLastIndex(({ type }) => type === 'answer'),
    );
  }

  /** Index of the entry with which the turn's answers begin. */
  get #turnAnswers(): number {
    const { entries, turnStart } = this;
    const first = entries.findIndex(({ type }, index) => index >= turnStart && type === 'answer');
    return first < 0 ? entries.length : first;
  }

  #open(): AnswerPart[] {
    if (this.#answer) return this.#answer;
    this.#answer = [];
    this.entries.push({ type: 'answer', parts: this.#answer });
    return this.#answer;
  }
}

type Handle = (state: TurnState, event: SessionEvent) => void;

const HANDLERS: Readonly<Record<string, Handle>> = {
  'session.status_running': (state) => state.start(),
  'session.status_idle': (state, event) => state.rest(event['stop_reason']),
  'session.status_rescheduled': (state) => state.reschedule(),
  'session.status_terminated': (state) => void (state.phase = 'terminated'),
  'span.model_request_start': (state, event) =>
    state.openRequest(event.id, Number(event['context_left_out'] ?? 0)),
  'span.model_request_end': (state, event) =>
    state.closeRequest({
      isError: event['is_error'] === true,
      isTooLong: event['context_exceeded'] === true,
      isRefused: event['attachments_refused'] === true,
    }),
  'agent.message': (state, event) => state.say(...readContent(event['content'])),
  'agent.thinking': (state, event) => state.say(...toReasoning(event)),
  'agent.custom_tool_use': (state, event) => {
    const asking = state.find(event['mcp_tool_use_id']);
    if (asking) addQuestion(asking, event);
    else state.call(toUse(event, 'custom'));
  },
  'agent.tool_use': (state, event) => state.call(toUse(event, 'client')),
  'agent.mcp_tool_use': (state, event) => state.call(toUse(event, 'mcp')),
  'agent.tool_result': (state, event) => settle(state, event, 'tool_use_id'),
  'agent.mcp_tool_result': (state, event) => settle(state, event, 'mcp_tool_use_id'),
  'user.tool_result': (state, event) => settle(state, event, 'tool_use_id'),
  'user.custom_tool_result': (state, event) => settle(state, event, 'custom_tool_use_id'),
  'user.tool_confirmation': confirm,
};

function toReasoning({ thinking, signature }: SessionEvent): Part[] {
  const text = typeof thinking === 'string' ? thinking : '';
  if (typeof signature !== 'string') return text === '' ? [] : [{ type: 'reasoning', text }];
  return [{ type: 'reasoning', text, signature: { origin: 'messages', value: signature } }];
}

function toUse(event: SessionEvent, kind: ToolUse['kind']): ToolUse {
  const { id, name, input, mcp_server_name: server, evaluated_permission: permission } = event;
  return {
    id,
    kind,
    name: String(name),
    server: typeof server === 'string' ? server : undefined,
    input: isJsonObject(input) ? input : {},
    permission: permission === 'ask' || permission === 'deny' ? permission : 'allow',
    verdict: undefined,
    result: undefined,
  };
}

/** The first result counts. */
function settle(state: TurnState, event: SessionEvent, idMember: string): void {
  const id = event[idMember];
  const questions = state.uses.flatMap((use) => use.questions ?? []);
  const use = state.find(id) ?? questions.find((question) => question.id === id);
  if (!use) return;
  use.result ??= {
    content: readResultContent(event['content']),
    isError: event['is_error'] === true,
  };
}

function confirm(state: TurnState, event: SessionEvent): void {
  const { tool_use_id: id, result, deny_message: message } = event;
  const use = state.find(id);
  if (!use) return;
  use.verdict ??= {
    isAllowed: result === 'allow',
    message: typeof message === 'string' ? message : undefined,
  };
}
