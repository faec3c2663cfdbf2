import type { ProviderId, Received } from './stage.ts';
import { dataUrl } from './client.ts';

/** What a conversation was, in no protocol's words. */
export interface Told {
  readonly said: string;
  readonly calls: readonly { id: string; name: string; arguments: string }[];
  readonly results: readonly {
    text: string;
    imageData?: string | undefined;
    isError?: boolean | undefined;
  }[];
}

/** The conversation behind the question as a provider must get it from clients of other protocols. */
export const EXPECTED_TURNS: Readonly<Record<ProviderId, (told: Told) => object[]>> = {
  chat: ({ said, calls, results }) => [
    {
      role: 'assistant',
      content: said === '' ? null : said,
      tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
    },
    ...results.map(({ text }, index) => ({
      role: 'tool',
      tool_call_id: calls[index]?.id,
      content: text,
    })),
    ...chatImages({ said, calls, results }),
  ],
  responses: ({ said, calls, results }) => [
    ...(said === '' ? [] : [{ role: 'assistant', content: said }]),
    ...calls.map(({ id, ...called }) => ({ type: 'function_call', call_id: id, ...called })),
    ...results.map(({ text, imageData }, index) => ({
      type: 'function_call_output',
      call_id: calls[index]?.id,
      output:
        imageData === undefined
          ? text
          : [
              { type: 'input_text', text },
              { type: 'input_image', detail: 'auto', image_url: dataUrl(imageData) },
            ],
    })),
  ],
  messages: ({ said, calls, results }) => [
    {
      role: 'assistant',
      content: [
        ...(said === '' ? [] : [{ type: 'text', text: said }]),
        ...calls.map(({ id, name, arguments: text }) => ({
          type: 'tool_use',
          id,
          name,
          input: JSON.parse(text) as object,
        })),
      ],
    },
    {
      role: 'user',
      content: results.map(({ text, imageData, isError }, index) => ({
        type: 'tool_result',
        tool_use_id: calls[index]?.id,
        content:
          imageData === undefined
            ? text
            : [
                { type: 'text', text },
                {
                  type: 'image',
                  source: { type: 'base64', media_type: 'image/png', data: imageData },
                },
              ],
        ...(isError && { is_error: true }),
      })),
    },
  ],
  'generate-content': ({ said, calls, results }) => [
    {
      role: 'model',
      parts: [
        ...(said === '' ? [] : [{ text: said }]),
        ...calls.map(({ id, name, arguments: text }) => ({
          functionCall: { id, name, args: JSON.parse(text) as object },
        })),
      ],
    },
    {
      role: 'user',
      parts: results.map(({ text, imageData, isError }, index) => ({
        functionResponse: {
          id: calls[index]?.id,
          name: calls[index]?.name,
          response: isError ? { error: text } : { output: text },
          ...(imageData !== undefined && {
            parts: [{ inlineData: { mimeType: 'image/png', data: imageData } }],
          }),
        },
      })),
    },
  ],
};

/** No result holds an image there, so the user shows it behind them. */
function chatImages({ calls, results }: Told): object[] {
  const content = results.flatMap(({ imageData }, index) =>
    imageData === undefined
      ? []
      : [
          { type: 'text', text: captionOf(calls[index]?.id) },
          { type: 'image_url', image_url: { url: dataUrl(imageData) } },
        ],
  );
  return content.length > 0 ? [{ role: 'user', content }] : [];
}

function captionOf(id: string | undefined): string {
  return `Images in the result of the tool call ${id}:`;
}

/** The turns of a request behind the question. */
export function turnsOf(body: Received): object[] {
  const [, ...turns] = (body.messages ?? body.input ?? body.contents) as object[];
  return turns;
}
