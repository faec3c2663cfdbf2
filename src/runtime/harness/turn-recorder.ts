import { isStorable } from '../../store/value-codec.ts';
import type { NewEvent } from '../../sessions/log/session-event.ts';
import { toFailedOutcome } from '../tools/tool-content.ts';
import type { ToolOutcome } from '../tools/tool-server.ts';
import { idle } from '../turn/turn-events.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import { HarnessError } from './harness-error.ts';
import { OpenText } from './open-text.ts';
import type { TextType } from './open-text.ts';
import type { Scrubber } from './scrubber.ts';
import type { Permission } from './tool-policy.ts';

/** A call of one of its own tools by a harness. */
export interface HarnessCall {
  /** Id of the call in the harness, unique within this turn. */
  readonly callId: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly permission: Permission;
}

/** Decision of the client or of the Agent's policy on a call. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly message?: string | undefined;
}

export interface TurnRecorderOptions {
  readonly journal: TurnJournal;
  readonly scrubber: Scrubber;
  /** Once aborted, nothing is recorded, and no client is asked. */
  readonly signal: AbortSignal;
  /** The harness is gone: its output is still recorded, but its requests need no answer. */
  readonly gone: Promise<void>;
}

/** Most events of one turn. */
const MAX_EVENTS = 10_000;
/** Characters of one event; a longer text continues in the next. */
const MAX_TEXT = 256 * 1024;
const MAX_INPUT = 256 * 1024;

/**
 * Writes what a harness says in a turn to the log, in its order, one step after the other. Rejects with
 * `HarnessError` `too_much_output`, `conflict` when another worker has the turn, or `StoreError`.
 */
export class TurnRecorder {
  readonly #options: TurnRecorderOptions;
  /** Ids of the events of the calls. */
  readonly #calls = new Map<string, string>();
  readonly #answered = new Set<string>();
  #open: OpenText | undefined;
  #events = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TurnRecorderOptions) {
    this.#options = options;
  }

  /** A part of a message or thought. */
  say(type: TextType, text: string): Promise<void> {
    return this.#inTurn(() => this.#say(type, text));
  }

  /** A message as a whole, in place of its parts so far. */
  sayWhole(text: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#say('agent.message', '');
      this.#open?.replace(text);
      await this.#append([]);
    });
  }

  use(call: HarnessCall): Promise<void> {
    return this.#inTurn(async () => void (await this.#use(call)));
  }

  /** The first result of a known call counts. */
  result(callId: string, outcome: ToolOutcome): Promise<void> {
    return this.#inTurn(() => this.#result(callId, outcome));
  }

  /** Asks for the decision on the call; undefined when the turn ends before that. */
  async ask(call: HarnessCall): Promise<Verdict | undefined> {
    let verdict: Verdict | undefined;
    await this.#inTurn(async () => {
      const id = await this.#use(call);
      verdict = await this.#decide(call, id);
      if (verdict?.isAllowed !== false) return;
      const message = verdict.message ?? 'The user denied this call.';
      await this.#result(call.callId, toFailedOutcome(message));
    });
    return verdict;
  }

  /** Resolves when nothing is being recorded. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** The text that is still open, for the end of the turn. */
  close(): NewEvent[] {
    const events = this.#open?.toEvents() ?? [];
    this.#open = undefined;
    return events;
  }

  async #say(type: TextType, text: string): Promise<void> {
    if (this.#open && (this.#open.type !== type || this.#open.length + text.length > MAX_TEXT))
      await this.#append([]);
    const { journal, scrubber } = this.#options;
    this.#open ??= new OpenText(type, journal.log, scrubber);
    this.#open.add(text);
  }

  async #use({ callId, name, input, permission }: HarnessCall): Promise<string> {
    const known = this.#calls.get(callId);
    if (known !== undefined) return known;
    const { journal, scrubber } = this.#options;
    const id = journal.log.nextEventId();
    this.#calls.set(callId, id);
    const event = { name, input: bounded(input), evaluated_permission: permission };
    await this.#append([{ type: 'agent.tool_use', id, ...scrubber.json(event) }]);
    return id;
  }

  async #result(callId: string, { content, isError }: ToolOutcome): Promise<void> {
    const id = this.#calls.get(callId);
    if (id === undefined || this.#answered.has(callId)) return;
    this.#answered.add(callId);
    const told = this.#options.scrubber.json(content);
    await this.#append([
      { type: 'agent.tool_result', tool_use_id: id, content: told, is_error: isError },
    ]);
  }

  async #decide({ permission }: HarnessCall, id: string): Promise<Verdict | undefined> {
    if (permission === 'allow') return { isAllowed: true };
    if (permission === 'deny') return { isAllowed: false, message: 'This tool is switched off.' };
    const { journal } = this.#options;
    await journal.append([idle({ type: 'requires_action', event_ids: [id] })], { status: 'idle' });
    const verdict = await this.#verdict(id);
    // The confirmation of an idle Session is committed together with its new status.
    if (verdict && journal.state.phase === 'waiting')
      await journal.append([{ type: 'session.status_running' }], { status: 'running' });
    return verdict;
  }

  #verdict(id: string): Promise<Verdict | undefined> {
    const { journal, signal, gone } = this.#options;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const use = journal.state.find(id);
        // A client that ran the tool by itself has decided, too.
        if (use?.result) settle({ isAllowed: false });
        else if (use?.verdict) settle(use.verdict);
      };
      const onInput = (): void => void journal.sync().then(look).catch(reject);
      const settle = (verdict: Verdict | undefined): void => {
        forget();
        signal.removeEventListener('abort', onAbort);
        resolve(verdict);
      };
      const onAbort = (): void => settle(undefined);
      const forget = journal.log.onInput(onInput);
      signal.addEventListener('abort', onAbort, { once: true });
      void gone.then(onAbort);
      if (signal.aborted) onAbort();
      else onInput();
    });
  }

  /** Appends events after the text that is open. */
  async #append(events: readonly NewEvent[]): Promise<void> {
    const all = [...this.close(), ...events];
    if (all.length === 0) return;
    this.#events += all.length;
    if (this.#events > MAX_EVENTS) throw new HarnessError('too_much_output');
    await this.#options.journal.append(all);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(() => (this.#options.signal.aborted ? undefined : work()));
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function bounded(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!isStorable(input))
    return { left_out: 'an input with a number beyond 1.8e308 or too many levels' };
  const { length } = JSON.stringify(input);
  return length <= MAX_INPUT ? input : { left_out: `an input of ${length} characters` };
}
