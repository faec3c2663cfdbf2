import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { isJsonObject } from '../../core/json/value.ts';
import { fromAcpResult, fromAcpText } from './acp-content.ts';
import type { ToolPolicy } from './tool-policy.ts';
import type { HarnessCall, TurnRecorder } from './turn-recorder.ts';

type Update = Readonly<Record<string, unknown>>;

/** Tools of the Agent's toolset that do what a kind of call says. */
const TOOLS: Readonly<Record<string, string>> = {
  read: 'read',
  edit: 'edit',
  search: 'grep',
  execute: 'bash',
  fetch: 'web_fetch',
};

/** Records the updates of an ACP agent during one prompt. */
export class AcpTurn {
  readonly #recorder: TurnRecorder;
  readonly #policy: ToolPolicy;
  /** The merged updates of each call so far. */
  readonly #calls = new Map<string, Update>();
  /** Calls that are in the log. */
  readonly #told = new Set<string>();

  constructor(recorder: TurnRecorder, policy: ToolPolicy) {
    this.#recorder = recorder;
    this.#policy = policy;
  }

  /**
   * Records an update; plans, modes and commands are of no use to readers of a Session and are
   * skipped.
   */
  async take(update: Update): Promise<void> {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#recorder.say('agent.message', fromAcpText(update['content']));
      case 'agent_thought_chunk':
        return this.#recorder.say('agent.thinking', fromAcpText(update['content']));
      case 'tool_call':
      case 'tool_call_update':
        return this.#call(update);
    }
  }

  /** Decides by the Agent's policy, for this one call; where it says so, the client is asked. */
  async ask(
    toolCall: Update,
    options: readonly PermissionOption[],
  ): Promise<RequestPermissionResponse> {
    const call = this.#merge(toolCall);
    this.#told.add(call.callId);
    const verdict = await this.#recorder.ask(call);
    const kinds = verdict?.isAllowed
      ? (['allow_once', 'allow_always'] as const)
      : (['reject_once', 'reject_always'] as const);
    const chosen = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0];
    if (!verdict || !chosen) return { outcome: { outcome: 'cancelled' } };
    return { outcome: { outcome: 'selected', optionId: chosen.optionId } };
  }

  /** Records the calls that were only announced. */
  async finish(): Promise<void> {
    for (const callId of this.#calls.keys()) await this.#tell(callId);
  }

  async #call(update: Update): Promise<void> {
    const { callId } = this.#merge(update);
    const call = this.#calls.get(callId) ?? {};
    const { status } = call;
    // The subject of a call often arrives only after the call itself.
    const isKnown = isJsonObject(call['rawInput']) && Object.keys(call['rawInput']).length > 0;
    if (isKnown || (typeof status === 'string' && status !== 'pending')) await this.#tell(callId);
    if (status === 'completed' || status === 'failed')
      await this.#recorder.result(callId, fromAcpResult(call));
  }

  async #tell(callId: string): Promise<void> {
    if (this.#told.has(callId)) return;
    this.#told.add(callId);
    await this.#recorder.use(this.#merge({ toolCallId: callId }));
  }

  /** Merges an update into its call, and returns the call. */
  #merge(update: Update): HarnessCall {
    const callId = String(update['toolCallId']);
    const news = Object.entries(update).filter(
      ([, value]) => value !== undefined && value !== null,
    );
    const call: Update = { ...this.#calls.get(callId), ...Object.fromEntries(news) };
    this.#calls.set(callId, call);
    const { name, kind, title, rawInput } = call;
    const tool = TOOLS[String(kind)] ?? (typeof kind === 'string' ? kind : 'other');
    const own = typeof name === 'string' && name !== '' ? name : tool;
    const told = rawInput === undefined ? { title } : { title, input: rawInput };
    const input = isJsonObject(rawInput) ? rawInput : told;
    return { callId, name: own, input, permission: this.#policy([own, tool]) };
  }
}
