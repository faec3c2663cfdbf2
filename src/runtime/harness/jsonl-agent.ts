import { isJsonObject } from '../../core/json/value.ts';
import { toPublicMessage } from '../../core/redact.ts';
import { fromMcpResult } from '../tools/tool-content.ts';
import type { ToolOutcome } from '../tools/tool-server.ts';
import type { AgentSetting, HarnessAgent, HarnessPrompt, HarnessStop } from './harness-agent.ts';
import { HarnessError } from './harness-error.ts';
import type { HarnessProcess } from './harness-process.ts';
import { JsonLines } from './json-lines.ts';
import { createToolPolicy } from './tool-policy.ts';
import type { ToolPolicy } from './tool-policy.ts';
import type { HarnessCall, TurnRecorder } from './turn-recorder.ts';

type Message = Readonly<Record<string, unknown>>;

const STOPS: Readonly<Record<string, HarnessStop>> = {
  end_turn: 'end_turn',
  refusal: 'refusal',
  max_tokens: 'cut_short',
};

/** A turn that runs. */
interface Running {
  readonly recorder: TurnRecorder;
  readonly end: (stop: HarnessStop) => void;
}

/** A program that speaks JSON lines (docs: harness). It is ready as soon as it runs. */
export class JsonlAgent implements HarnessAgent {
  readonly unusedServers: readonly string[];
  readonly #process: HarnessProcess;
  readonly #setting: AgentSetting;
  readonly #lines: JsonLines;
  readonly #policy: ToolPolicy;
  #running: Running | undefined;

  constructor(process: HarnessProcess, setting: AgentSetting) {
    this.#process = process;
    this.#setting = setting;
    this.#policy = createToolPolicy(setting.session.agent.tools);
    this.unusedServers = setting.mcpServers.map(({ name }) => name);
    // Lines of a program between turns are lost.
    this.#lines = new JsonLines(process, async (message) => {
      if (this.#running) await this.#take(message, this.#running);
    });
  }

  async prompt({ inputs, history, recorder }: HarnessPrompt): Promise<HarnessStop> {
    const { session, skills } = this.#setting;
    const { name, system, model } = session.agent;
    this.#lines.beginTurn();
    const ended = new Promise<HarnessStop>((resolve) => {
      this.#running = { recorder, end: resolve };
    });
    try {
      // A write that fails is explained by the end of the output, and one that hangs by the deadline.
      this.#send({
        type: 'turn',
        session_id: session.id,
        agent: {
          name,
          system,
          model: model?.id ?? null,
          ...(skills.length > 0 && { skills }),
        },
        input: inputs.map(({ type, content }) => ({ type, content })),
        ...(history && { history }),
      });
      return await Promise.race([ended, this.#lines.failed]);
    } finally {
      this.#running = undefined;
    }
  }

  async cancel(): Promise<void> {
    this.#send({ type: 'interrupt' });
  }

  async #take(message: Message, { recorder, end }: Running): Promise<void> {
    switch (message['type']) {
      case 'delta':
        return recorder.say('agent.message', text(message, 'text'));
      case 'message':
        return recorder.sayWhole(text(message, 'text'));
      case 'thinking':
        return recorder.say('agent.thinking', text(message, 'text'));
      case 'tool_use':
        return message['ask'] === true
          ? void this.#ask(this.#toCall(message), recorder)
          : recorder.use(this.#toCall(message));
      case 'tool_result':
        return recorder.result(text(message, 'tool_use_id'), toOutcome(message));
      case 'error':
        throw new HarnessError('failed', this.#toDetail(text(message, 'message')));
      case 'end':
        return end(toStop(message));
    }
    throw new HarnessError('invalid_output');
  }

  async #ask(call: HarnessCall, recorder: TurnRecorder): Promise<void> {
    // A log that fails says so at the next step, and a program that is gone at the end of its output.
    const verdict = await recorder.ask(call).catch(() => undefined);
    if (!verdict) return;
    const { isAllowed, message } = verdict;
    const result = isAllowed ? 'allow' : 'deny';
    const reason = message === undefined ? {} : { message };
    this.#send({ type: 'permission', id: call.callId, result, ...reason });
  }

  #toCall(message: Message): HarnessCall {
    const name = text(message, 'name');
    const input = isJsonObject(message['input']) ? message['input'] : {};
    return { callId: text(message, 'id'), name, input, permission: this.#policy([name]) };
  }

  #toDetail(message: string): string {
    return toPublicMessage(this.#setting.scrubber.text(message));
  }

  #send(message: Message): void {
    this.#process.send(message).catch(() => undefined);
  }
}

function toStop({ stop_reason: reason = 'end_turn' }: Message): HarnessStop {
  const stop = typeof reason === 'string' ? STOPS[reason] : undefined;
  if (!stop) throw new HarnessError('invalid_output');
  return stop;
}

function text(message: Message, member: string): string {
  const value = message[member];
  if (typeof value === 'string') return value;
  throw new HarnessError('invalid_output');
}

function toOutcome({ content, is_error: isError }: Message): ToolOutcome {
  return fromMcpResult({
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    isError,
  });
}
