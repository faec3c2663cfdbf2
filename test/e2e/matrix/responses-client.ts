import type OpenAI from 'openai';
import { TOOL_NAMES, TOOL_SCHEMA, dataUrl } from './client.ts';
import type { ClientRow, Dialogue, Question, Result, Said, Target } from './client.ts';

type Item = OpenAI.Responses.ResponseInputItem;
type Content = OpenAI.Responses.ResponseInputContent;

export function responsesClient(library: string, Client: typeof OpenAI): ClientRow {
  const connect = ({ url, key }: Target): OpenAI =>
    new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  return {
    id: 'responses',
    library,
    asksToStop: false,
    open: (target, question) => new ResponsesDialogue(connect(target), target.model, question),
    watch: (target, question) =>
      connect(target).responses.create({ ...toBody(target.model, question), stream: true }),
    request: (model, extra = {}) => ({
      path: '/v1/responses',
      body: { model, input: 'hello', ...extra },
    }),
    streamed: (model) => ({
      path: '/v1/responses',
      body: { model, input: 'hello', stream: true },
    }),
  };
}

function toBody(
  model: string,
  question: Question,
): OpenAI.Responses.ResponseCreateParamsNonStreaming & { input: Item[] } {
  const { tools, schema, logprobs, thinks } = question;
  return {
    model,
    input: [{ role: 'user', content: toContent(question) }],
    store: false,
    include: [
      'reasoning.encrypted_content',
      ...(logprobs === undefined ? [] : (['message.output_text.logprobs'] as const)),
    ],
    ...(tools && {
      tools: TOOL_NAMES.map((name) => ({
        type: 'function' as const,
        name,
        strict: false,
        parameters: TOOL_SCHEMA,
      })),
    }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema } } }),
    ...(logprobs !== undefined && { top_logprobs: logprobs }),
    ...(thinks && { reasoning: { effort: 'low', summary: 'auto' } }),
  };
}

function toContent({ text, imageData, imageUrl }: Question): string | Content[] {
  const url = imageUrl ?? (imageData === undefined ? undefined : dataUrl(imageData));
  if (url === undefined) return text;
  return [
    { type: 'input_text', text },
    { type: 'input_image', detail: 'auto', image_url: url },
  ];
}

class ResponsesDialogue implements Dialogue {
  readonly #client: OpenAI;
  readonly #body: ReturnType<typeof toBody>;
  #ids: string[] = [];

  constructor(client: OpenAI, model: string, question: Question) {
    this.#client = client;
    this.#body = toBody(model, question);
  }

  async ask(stream: boolean): Promise<Said> {
    const { responses } = this.#client;
    const response = stream
      ? await responses.stream({ ...this.#body, stream: true }).finalResponse()
      : await responses.create(this.#body);
    const output = response.output as OpenAI.Responses.ResponseOutputItem[];
    this.#body.input.push(...(output as Item[]));
    const calls = output.filter((item) => item.type === 'function_call');
    this.#ids = calls.map(({ call_id }) => call_id);
    const content = output.flatMap((item) => (item.type === 'message' ? item.content : []));
    const refusal = content.find((part) => part.type === 'refusal')?.refusal;
    const reason = response.incomplete_details?.reason;
    return {
      model: response.model,
      text: response.output_text,
      thought: output
        .flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
        .map(({ text }) => text)
        .join(''),
      ...(refusal && { refusal }),
      calls: calls.map(({ call_id: id, name, arguments: text }) => ({ id, name, arguments: text })),
      stop: `${response.status}${reason ? `:${reason}` : ''}`,
      usage: response.usage,
      citations: content.flatMap((part) => (part.type === 'output_text' ? part.annotations : [])),
      logprobs: content.flatMap((part) => (part.type === 'output_text' && part.logprobs) || []),
    };
  }

  moveTo(model: string): void {
    this.#body.model = model;
  }

  give(results: readonly Result[]): void {
    results.forEach(({ text, imageData }, index) => {
      const output =
        imageData === undefined
          ? text
          : [
              { type: 'input_text' as const, text },
              {
                type: 'input_image' as const,
                detail: 'auto' as const,
                image_url: dataUrl(imageData),
              },
            ];
      const call_id = this.#ids[index] ?? '';
      this.#body.input.push({ type: 'function_call_output', call_id, output });
    });
  }
}
