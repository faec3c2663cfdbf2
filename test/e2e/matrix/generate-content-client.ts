import type { Chat, Content, GenerateContentResponse, GoogleGenAI, Part } from '@google/genai';
import { TOOL_NAMES, TOOL_SCHEMA } from './client.ts';
import type { ClientRow, Dialogue, Question, Result, Said, Target } from './client.ts';

export function generateContentClient(library: string, Client: typeof GoogleGenAI): ClientRow {
  const connect = ({ url, key }: Target): GoogleGenAI =>
    new Client({ apiKey: key, httpOptions: { baseUrl: url } });
  return {
    id: 'generate-content',
    library,
    asksToStop: true,
    open(target, question) {
      const { chats } = connect(target);
      const config = toConfig(question);
      return new GenerateContentDialogue(
        (model, history) => chats.create({ model, config, history: [...history] }),
        { model: target.model, message: toParts(question) },
      );
    },
    watch: (target, question) =>
      connect(target).models.generateContentStream({
        model: target.model,
        contents: [{ role: 'user', parts: toParts(question) }],
        config: toConfig(question),
      }),
    request: (model, extra = {}) => ({
      path: `/v1beta/models/${model}:generateContent`,
      body: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }], ...extra },
    }),
    streamed: (model) => ({
      path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
      body: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
    }),
  };
}

function toConfig({ tools, schema, stop, logprobs, thinks }: Question): object {
  return {
    ...(tools && {
      tools: [
        {
          functionDeclarations: TOOL_NAMES.map((name) => ({
            name,
            parametersJsonSchema: TOOL_SCHEMA,
          })),
        },
      ],
    }),
    ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
    ...(stop && { stopSequences: [...stop] }),
    ...(logprobs !== undefined && { responseLogprobs: true, logprobs }),
    ...(thinks && { thinkingConfig: { thinkingBudget: 2048, includeThoughts: true } }),
  };
}

function toParts({ text, imageData, imageUrl }: Question): Part[] {
  if (imageUrl !== undefined)
    return [{ text }, { fileData: { mimeType: 'image/png', fileUri: imageUrl } }];
  return imageData === undefined ? [{ text }] : [{ text }, toImage(imageData)];
}

function toImage(data: string): { inlineData: { mimeType: string; data: string } } {
  return { inlineData: { mimeType: 'image/png', data } };
}

/** The library's own chat keeps the history; of a stream it keeps every piece. */
class GenerateContentDialogue implements Dialogue {
  readonly #create: (model: string, history: readonly Content[]) => Chat;
  #chat: Chat;
  #message: Part[];
  #calls: readonly { id: string; name: string }[] = [];

  constructor(
    create: (model: string, history: readonly Content[]) => Chat,
    { model, message }: { model: string; message: Part[] },
  ) {
    this.#create = create;
    this.#chat = create(model, []);
    this.#message = message;
  }

  moveTo(model: string): void {
    this.#chat = this.#create(model, this.#chat.getHistory());
  }

  async ask(stream: boolean): Promise<Said> {
    const pieces = stream ? await this.#stream() : [await this.#whole()];
    const candidates = pieces.flatMap((piece) => piece.candidates ?? []);
    const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
    const calls = parts.flatMap(({ functionCall: call }) => (call ? [call] : []));
    this.#calls = calls.map(({ id = '', name = '' }) => ({ id, name }));
    const textOf = (isThought: boolean): string =>
      parts
        .filter(({ thought = false }) => thought === isThought)
        .map(({ text = '' }) => text)
        .join('');
    const blocked = pieces.findLast(({ promptFeedback }) => promptFeedback)?.promptFeedback;
    return {
      model: pieces.at(-1)?.modelVersion ?? '',
      text: textOf(false),
      thought: textOf(true),
      ...(blocked?.blockReasonMessage && { refusal: blocked.blockReasonMessage }),
      calls: calls.map(({ id = '', name = '', args = {} }) => ({ id, name, arguments: args })),
      stop: candidates.findLast(({ finishReason }) => finishReason)?.finishReason ?? '',
      usage: pieces.findLast(({ usageMetadata }) => usageMetadata)?.usageMetadata,
      citations: candidates.flatMap(({ groundingMetadata }) => groundingMetadata ?? []),
      logprobs: candidates.flatMap(({ logprobsResult: result }) =>
        (result?.chosenCandidates ?? []).map((chosen, index) => ({
          ...chosen,
          top: result?.topCandidates?.[index]?.candidates,
        })),
      ),
    };
  }

  give(results: readonly Result[]): void {
    this.#message = results.map(({ text, imageData, isError }, index) => ({
      functionResponse: {
        ...this.#calls[index],
        response: isError ? { error: text } : { output: text },
        ...(imageData !== undefined && { parts: [toImage(imageData)] }),
      },
    }));
  }

  #whole(): Promise<GenerateContentResponse> {
    return this.#chat.sendMessage({ message: this.#message });
  }

  async #stream(): Promise<GenerateContentResponse[]> {
    const pieces: GenerateContentResponse[] = [];
    for await (const piece of await this.#chat.sendMessageStream({ message: this.#message }))
      pieces.push(piece);
    return pieces;
  }
}
