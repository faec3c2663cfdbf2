import type Anthropic from '@anthropic-ai/sdk';
import { TOOL_NAMES, TOOL_SCHEMA } from './client.ts';
import type { ClientRow, Dialogue, Question, Result, Said, Target } from './client.ts';

export function messagesClient(library: string, Client: typeof Anthropic): ClientRow {
  const connect = ({ url, key }: Target): Anthropic =>
    new Client({ baseURL: url, apiKey: key, maxRetries: 0 });
  return {
    id: 'messages',
    library,
    asksToStop: true,
    open: (target, question) => new MessagesDialogue(connect(target), target.model, question),
    watch: (target, question) =>
      connect(target).messages.create({ ...toBody(target.model, question), stream: true }),
    request: (model, extra = {}) => ({
      path: '/v1/messages',
      body: { model, max_tokens: 4096, messages: [{ role: 'user', content: 'hello' }], ...extra },
    }),
    streamed: (model) => ({
      path: '/v1/messages',
      body: {
        model,
        max_tokens: 4096,
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
      },
    }),
  };
}

function toBody(model: string, question: Question): Anthropic.MessageCreateParamsNonStreaming {
  const { tools, schema, stop, thinks } = question;
  return {
    model,
    max_tokens: 4096,
    messages: [{ role: 'user', content: toContent(question) }],
    ...(tools && { tools: TOOL_NAMES.map((name) => ({ name, input_schema: TOOL_SCHEMA })) }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    ...(stop && { stop_sequences: [...stop] }),
    ...(thinks && { thinking: { type: 'enabled', budget_tokens: 2048 } }),
  };
}

function toContent({
  text,
  imageData,
  imageUrl,
}: Question): string | Anthropic.ContentBlockParam[] {
  if (imageUrl !== undefined)
    return [
      { type: 'text', text },
      { type: 'image', source: { type: 'url', url: imageUrl } },
    ];
  return imageData === undefined ? text : [{ type: 'text', text }, toImage(imageData)];
}

function toImage(data: string): Anthropic.ImageBlockParam {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
}

class MessagesDialogue implements Dialogue {
  readonly #client: Anthropic;
  readonly #body: Anthropic.MessageCreateParamsNonStreaming;
  #ids: string[] = [];

  constructor(client: Anthropic, model: string, question: Question) {
    this.#client = client;
    this.#body = toBody(model, question);
  }

  async ask(stream: boolean): Promise<Said> {
    const { messages } = this.#client;
    const message = stream
      ? await messages.stream(this.#body).finalMessage()
      : await messages.create(this.#body);
    const { content, stop_reason: reason, stop_sequence: sequence } = message;
    this.#body.messages.push({ role: 'assistant', content });
    const calls = content.filter((block) => block.type === 'tool_use');
    this.#ids = calls.map(({ id }) => id);
    return {
      model: message.model,
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      thought: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      calls: calls.map(({ id, name, input }) => ({ id, name, arguments: input })),
      stop: `${reason}${sequence ? `:${sequence}` : ''}`,
      usage: message.usage,
      citations: content.flatMap((block) => (block.type === 'text' && block.citations) || []),
    };
  }

  moveTo(model: string): void {
    this.#body.model = model;
  }

  give(results: readonly Result[]): void {
    const content = results.map(({ text, imageData, isError }, index) => ({
      type: 'tool_result' as const,
      tool_use_id: this.#ids[index] ?? '',
      content:
        imageData === undefined ? text : [{ type: 'text' as const, text }, toImage(imageData)],
      ...(isError && { is_error: true }),
    }));
    this.#body.messages.push({ role: 'user', content });
  }
}
