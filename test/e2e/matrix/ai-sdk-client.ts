import { generateText, jsonSchema, streamText, tool } from 'ai';
import type { LanguageModel, ModelMessage } from 'ai';
import { TOOL_NAMES, TOOL_SCHEMA } from './client.ts';
import type { ClientRow, Dialogue, Result, Said, SaidCall, Target } from './client.ts';

/** Vercel's AI SDK over one of its providers. */
export function aiSdkClient(
  library: string,
  row: Pick<ClientRow, 'id' | 'request' | 'streamed'>,
  connect: (target: Target, model: string) => LanguageModel,
): ClientRow {
  return {
    ...row,
    library,
    asksToStop: true,
    open: (target, { text }) =>
      new AiSdkDialogue((model) => connect(target, model), target.model, text),
    watch: (target, { text }) =>
      Promise.resolve(
        streamText({ ...SETTINGS, model: connect(target, target.model), prompt: text }).fullStream,
      ),
  };
}

const SETTINGS = {
  maxRetries: 0,
  // By default it names the items of earlier answers, which only the provider that stored them knows.
  providerOptions: { openai: { store: false } },
  tools: Object.fromEntries(
    TOOL_NAMES.map((name) => [name, tool({ inputSchema: jsonSchema(TOOL_SCHEMA) })]),
  ),
};

class AiSdkDialogue implements Dialogue {
  readonly #connect: (model: string) => LanguageModel;
  readonly #messages: ModelMessage[];
  #model: string;
  #calls: SaidCall[] = [];

  constructor(connect: (model: string) => LanguageModel, model: string, text: string) {
    this.#connect = connect;
    this.#model = model;
    this.#messages = [{ role: 'user', content: text }];
  }

  async ask(stream: boolean): Promise<Said> {
    const settings = {
      ...SETTINGS,
      model: this.#connect(this.#model),
      messages: this.#messages,
    };
    const answer = stream
      ? streamText({ ...settings, onError: raise })
      : await generateText(settings);
    const toolCalls = await answer.toolCalls;
    this.#calls = toolCalls.map(({ toolCallId: id, toolName: name, input }) => {
      return { id, name, arguments: input };
    });
    this.#messages.push(...(await answer.responseMessages));
    return {
      model: (await answer.response).modelId,
      text: await answer.text,
      thought: (await answer.reasoningText) ?? '',
      calls: this.#calls,
      stop: await answer.finishReason,
      usage: await answer.usage,
      citations: await answer.sources,
    };
  }

  moveTo(model: string): void {
    this.#model = model;
  }

  give(results: readonly Result[]): void {
    const content = results.map(({ text: value }, index) => {
      const { id: toolCallId = '', name: toolName = '' } = this.#calls[index] ?? {};
      const output = { type: 'text' as const, value };
      return { type: 'tool-result' as const, toolCallId, toolName, output };
    });
    this.#messages.push({ role: 'tool', content });
  }
}

function raise({ error }: { error: unknown }): never {
  throw error;
}
