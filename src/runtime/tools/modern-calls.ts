import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../core/json/value.ts';
import { redactSecrets, toPublicMessage } from '../../core/redact.ts';
import type { Clock } from '../../core/time/clock.ts';
import { pause } from '../../core/time/pause.ts';
import { fromMcpResult, toFailedOutcome } from './tool-content.ts';
import type { ToolAnswers, ToolOutcome, ToolQuestions } from './tool-server.ts';

type Members = Readonly<Record<string, unknown>>;

/** What a call needs to be continued, as the server gave it: the state of the call, or its task. */
export interface Resumption {
  readonly requestState?: string;
  readonly taskId?: string;
}

type Answers = ToolAnswers<Resumption>;
type Outcome = ToolOutcome | ToolQuestions<Resumption>;

/** Abilities of this client, in `_meta` of each request; a handshake of former revisions offers none. */
export const MODERN_META: Members = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

export interface ModernCallOptions {
  /** Sends a request, by default until `signal`, and resolves with its result as the server gave it. */
  ask(method: string, params: Members, signal?: AbortSignal): Promise<Members>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly secrets: readonly string[];
}

/** Repetitions of one call that the server asks for without a question, and the time before each. */
const MAX_ROUNDS = 10;
const ROUND_MS = 250;
/** A task ends within the time to live that its server gives it, at most within this. */
const MAX_TASK_MS = 3_600_000;
const POLL_MS = 1_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60_000;
/** Characters of the questions of one call, its state included, and their number: each is read with the Session. */
const MAX_QUESTIONS = 256 * 1024;
const MAX_FORMS = 50;

/** A call of a tool in MCP 2026-07-28. */
export class ModernCall {
  readonly #params: Members;
  readonly #answers: Answers | undefined;
  readonly #options: ModernCallOptions;

  constructor(params: Members, answers: Answers | undefined, options: ModernCallOptions) {
    this.#params = params;
    this.#answers = answers;
    this.#options = options;
  }

  /**
   * Resolves with the result, or with the questions that the server has before (`input_required`). A call that
   * becomes a task is polled to its end; `signal` cancels it there.
   */
  async run(): Promise<Outcome> {
    const { ask, secrets } = this.#options;
    const { responses: inputResponses, resume } = this.#answers ?? {};
    if (resume?.taskId !== undefined) {
      const { taskId } = resume;
      await ask('tasks/update', { taskId, inputResponses });
      return this.#follow(await ask('tasks/get', { taskId }), taskId);
    }
    let extra: Members = this.#answers ? { inputResponses, ...resume } : {};
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = await ask('tools/call', { ...this.#params, ...extra });
      const { resultType, requestState, inputRequests, taskId } = result;
      if (resultType === 'task') return this.#begin(result, String(taskId));
      if (resultType !== 'input_required') return fromMcpResult(result, secrets);
      extra = typeof requestState === 'string' ? { requestState } : {};
      const asked = this.#toQuestions(inputRequests, extra);
      if (asked) return asked;
      await this.#pause(ROUND_MS);
    }
    return toFailedOutcome(`the server wanted the call ${MAX_ROUNDS} times without a result`);
  }

  /** A new task shows only its state: where that is the end already, its result is still to be read. */
  async #begin(task: Members, taskId: string): Promise<Outcome> {
    const { ask } = this.#options;
    const isOver = task['status'] === 'completed' || task['status'] === 'failed';
    return this.#follow(isOver ? await ask('tasks/get', { taskId }) : task, taskId);
  }

  /** Follows a task to its end, or to a question that has no answer yet. */
  async #follow(first: Members, taskId: string): Promise<Outcome> {
    const { ask, clock, signal, secrets } = this.#options;
    const started = clock.monotonic();
    try {
      for (let task = first; ; task = await ask('tasks/get', { taskId })) {
        const { status, result, ttlMs, pollIntervalMs } = task;
        if (status === 'completed')
          return fromMcpResult(isJsonObject(result) ? result : {}, secrets);
        const end = this.#endOf(task) ?? this.#toQuestions(task['inputRequests'], { taskId });
        if (end) return end;
        const limit = typeof ttlMs === 'number' ? Math.min(ttlMs, MAX_TASK_MS) : MAX_TASK_MS;
        if (clock.monotonic() - started > limit) {
          this.#cancel(taskId);
          return toFailedOutcome('the task of the server timed out');
        }
        const wanted = typeof pollIntervalMs === 'number' ? pollIntervalMs : POLL_MS;
        await this.#pause(Math.min(Math.max(wanted, MIN_POLL_MS), MAX_POLL_MS));
      }
    } catch (thrown) {
      if (signal.aborted) this.#cancel(taskId);
      throw thrown;
    }
  }

  #endOf({ status, error }: Members): ToolOutcome | undefined {
    if (status === 'cancelled') return toFailedOutcome('the server cancelled the task');
    if (status !== 'failed') return undefined;
    const { message } = isJsonObject(error) ? error : {};
    const { secrets } = this.#options;
    const text = typeof message === 'string' ? message : 'the task of the server failed';
    return toFailedOutcome(toPublicMessage(text, { secrets }));
  }

  #cancel(taskId: string): void {
    const { signal } = new AbortController();
    void this.#options.ask('tasks/cancel', { taskId }, signal).catch(() => undefined);
  }

  /** Undefined where all are answered. Forms are the only ones that this client offers to answer. */
  #toQuestions(requests: unknown, resume: Resumption): Outcome | undefined {
    const answered = resume.taskId === undefined ? {} : (this.#answers?.responses ?? {});
    const open = Object.entries(isJsonObject(requests) ? requests : {}).filter(
      ([key]) => !Object.hasOwn(answered, key),
    );
    if (open.length === 0) return undefined;
    const questions = open.flatMap(([key, request]) => {
      const { method, params } = isJsonObject(request) ? request : {};
      const {
        mode = 'form',
        message,
        requestedSchema: schema,
      } = isJsonObject(params) ? params : {};
      if (method !== 'elicitation/create' || mode !== 'form') return [];
      const text = typeof message === 'string' ? message : '';
      const shown = redactSecrets(text, this.#options.secrets);
      return [{ key, message: shown, schema: isJsonObject(schema) ? schema : {} }];
    });
    if (questions.length < open.length)
      return toFailedOutcome(
        'the server asks for more than forms, which the gateway does not offer',
      );
    const asked = { questions, resume };
    return questions.length <= MAX_FORMS && JSON.stringify(asked).length <= MAX_QUESTIONS
      ? asked
      : toFailedOutcome('the questions of the server are too many or too large');
  }

  async #pause(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    if (!(await pause(ms, clock, signal))) throw signal.reason;
  }
}

/** The first revision without a handshake; dates sort as texts. */
const MODERN = '2026-07-28';

/** Kinds of results that are read here. Of the others, the client takes questions and refuses the unknown. */
const KINDS: readonly unknown[] = [undefined, 'complete', 'task'];

/**
 * Hides a result of a revision from the schemas of the client, which refuse all of it for one part that is
 * unknown or wrong, and do not know tasks. {@link givenOf} finds it.
 */
export function hideResult(message: JSONRPCMessage, revision = ''): void {
  const { result } = message as { result?: unknown };
  if (revision < MODERN || !isJsonObject(result) || !KINDS.includes(result['resultType'])) return;
  const shell = { resultType: 'complete', content: [], tools: [], ttlMs: 0, cacheScope: 'private' };
  Object.assign(message, { result: { ...shell, given: result } });
}

/** The result as the server gave it. */
export function givenOf(result: Members): Members {
  return isJsonObject(result['given']) ? result['given'] : result;
}
