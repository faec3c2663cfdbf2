import type OpenAI from 'openai';
import { TOOL_NAMES, TOOL_SCHEMA, dataUrl } from './client.ts';
import type { ClientRow, Dialogue, Question, Result, Said, Target } from './client.ts';

type Message = OpenAI.ChatCompletionMessageParam;
interface Detail {
  type?: string;
  index?: number;
  text?: string;
}
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & Thoughts;
interface Thoughts {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: Detail[];
}

export function chatClient(library: string, Client: typeof OpenAI): ClientRow {
  const connect = ({ url, key }: Target): OpenAI =>
    new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  return {
    id: 'chat',
    library,
    asksToStop: true,
    open: (target, question) => new ChatDialogue(connect(target), target.model, question),
    watch: (target, question) =>
      connect(target).chat.completions.create({ ...toBody(target.model, question), stream: true }),
    request: (model, extra = {}) => ({
      path: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content: 'hello' }], ...extra },
    }),
    streamed: (model) => ({
      path: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content: 'hello' }], stream: true },
    }),
  };
}

function toBody(
  model: string,
  question: Question,
): OpenAI.ChatCompletionCreateParamsNonStreaming & { stream?: false } {
  const { tools, schema, stop, logprobs, thinks } = question;
  return {
    model,
    messages: [{ role: 'user', content: toContent(question) }],
    ...(tools && {
      tools: TOOL_NAMES.map((name) => ({
        type: 'function' as const,
        function: { name, parameters: TOOL_SCHEMA },
      })),
    }),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    }),
    ...(stop && { stop: [...stop] }),
    ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs }),
    ...(thinks && { reasoning_effort: 'low' }),
  };
}

function toContent({
  text,
  imageData,
  imageUrl,
}: Question): string | OpenAI.ChatCompletionContentPart[] {
  const url = imageUrl ?? (imageData === undefined ? undefined : dataUrl(imageData));
  if (url === undefined) return text;
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url } },
  ];
}

class ChatDialogue implements Dialogue {
  readonly #client: OpenAI;
  readonly #body: ReturnType<typeof toBody>;
  readonly #messages: Message[];
  #ids: string[] = [];

  constructor(client: OpenAI, model: string, question: Question) {
    this.#client = client;
    this.#body = toBody(model, question);
    this.#messages = this.#body.messages;
  }

  async ask(stream: boolean): Promise<Said> {
    const completion = stream ? await this.#stream() : await this.#whole();
    const [choice] = completion.choices;
    if (!choice) throw new Error('no choice');
    const message = choice.message as OpenAI.ChatCompletionMessage & Thoughts;
    this.#messages.push(message);
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    this.#ids = calls.map(({ id }) => id);
    const { refusal } = message;
    return {
      model: completion.model,
      text: message.content ?? '',
      thought: message.reasoning_content ?? message.reasoning ?? '',
      ...(refusal && { refusal }),
      calls: calls.map(({ id, function: called }) => ({ id, ...called })),
      stop: choice.finish_reason,
      usage: completion.usage,
      logprobs: choice.logprobs?.content,
      citations: message.annotations ?? [],
    };
  }

  moveTo(model: string): void {
    this.#body.model = model;
  }

  give(results: readonly Result[]): void {
    results.forEach(({ text }, index) => {
      const tool_call_id = this.#ids[index] ?? '';
      this.#messages.push({ role: 'tool', tool_call_id, content: text });
    });
  }

  #whole(): Promise<OpenAI.ChatCompletion> {
    return this.#client.chat.completions.create(this.#body);
  }

  /** The helper puts everything together that its own API has; reasoning is joined as OpenRouter says. */
  async #stream(): Promise<OpenAI.ChatCompletion> {
    const runner = this.#client.chat.completions.stream({
      ...this.#body,
      stream: true,
      stream_options: { include_usage: true },
    });
    const details: Detail[] = [];
    let thought = '';
    runner.on('chunk', ({ choices }) => {
      const delta: Delta | undefined = choices[0]?.delta;
      thought += delta?.reasoning_content ?? delta?.reasoning ?? '';
      for (const piece of delta?.reasoning_details ?? []) joinDetail(details, piece);
    });
    const completion = await runner.finalChatCompletion();
    const message = completion.choices[0]?.message as Thoughts | undefined;
    if (message && details.length > 0) message.reasoning_details = details;
    if (message && thought !== '') message.reasoning_content = thought;
    return completion;
  }
}

function joinDetail(details: Detail[], piece: Detail): void {
  const found = details.find(({ type, index }) => type === piece.type && index === piece.index);
  if (!found) details.push({ ...piece });
  else {
    Object.assign(found, piece, { text: `${found.text ?? ''}${piece.text ?? ''}` });
  }
}
