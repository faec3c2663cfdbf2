import type { WirePath } from '../api/calls.ts';

/** A protocol of the playground: its path, and how its request is made and its text is read. */
export interface WireProtocol {
  readonly id: string;
  readonly title: string;
  path(model: string, isStream: boolean): WirePath;
  body(prompt: Prompt): Record<string, unknown>;
}

export interface Prompt {
  readonly model: string;
  readonly system: string;
  readonly text: string;
  /** Picture as base64; undefined for none. */
  readonly picture: { readonly type: string; readonly data: string } | undefined;
  /** Tools as JSON of `[{name, description, parameters}]`. */
  readonly tools: readonly Tool[];
  readonly isStream: boolean;
}

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: unknown;
}

const MAX_TOKENS = 1_024;
const streamed = ({ isStream }: Prompt): object => (isStream ? { stream: true } : {});
const urlOf = ({ type, data }: NonNullable<Prompt['picture']>): string =>
  `data:${type};base64,${data}`;

export const WIRE_PROTOCOLS: readonly WireProtocol[] = [
  {
    id: 'chat',
    title: 'Chat completions',
    path: () => '/v1/chat/completions',
    body: (prompt) => ({
      model: prompt.model,
      messages: [
        ...(prompt.system ? [{ role: 'system', content: prompt.system }] : []),
        {
          role: 'user',
          content: prompt.picture
            ? [
                { type: 'text', text: prompt.text },
                { type: 'image_url', image_url: { url: urlOf(prompt.picture) } },
              ]
            : prompt.text,
        },
      ],
      ...(prompt.tools.length > 0 && {
        tools: prompt.tools.map((tool) => ({ type: 'function', function: tool })),
      }),
      ...streamed(prompt),
    }),
  },
  {
    id: 'responses',
    title: 'Responses',
    path: () => '/v1/responses',
    body: (prompt) => ({
      model: prompt.model,
      ...(prompt.system && { instructions: prompt.system }),
      input: prompt.picture
        ? [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: prompt.text },
                { type: 'input_image', image_url: urlOf(prompt.picture) },
              ],
            },
          ]
        : prompt.text,
      ...(prompt.tools.length > 0 && {
        tools: prompt.tools.map((tool) => ({ type: 'function', ...tool })),
      }),
      ...streamed(prompt),
    }),
  },
  {
    id: 'messages',
    title: 'Messages',
    path: () => '/v1/messages',
    body: (prompt) => ({
      model: prompt.model,
      max_tokens: MAX_TOKENS,
      ...(prompt.system && { system: prompt.system }),
      messages: [
        {
          role: 'user',
          content: prompt.picture
            ? [
                {
                  type: 'image',
                  source: {
                    type: 'base64',
                    media_type: prompt.picture.type,
                    data: prompt.picture.data,
                  },
                },
                { type: 'text', text: prompt.text },
              ]
            : prompt.text,
        },
      ],
      ...(prompt.tools.length > 0 && {
        tools: prompt.tools.map(({ name, description, parameters }) => ({
          name,
          ...(description && { description }),
          input_schema: parameters ?? { type: 'object' },
        })),
      }),
      ...streamed(prompt),
    }),
  },
  {
    id: 'generate-content',
    title: 'Generate content',
    path: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (prompt) => ({
      ...(prompt.system && { systemInstruction: { parts: [{ text: prompt.system }] } }),
      contents: [
        {
          role: 'user',
          parts: [
            { text: prompt.text },
            ...(prompt.picture
              ? [{ inlineData: { mimeType: prompt.picture.type, data: prompt.picture.data } }]
              : []),
          ],
        },
      ],
      ...(prompt.tools.length > 0 && { tools: [{ functionDeclarations: prompt.tools }] }),
    }),
  },
];

/** Tools of a text of JSON. Throws with the words for a reader. */
export function parseTools(text: string): Tool[] {
  if (text.trim() === '') return [];
  const parsed: unknown = JSON.parse(text);
  const tools = Array.isArray(parsed) ? parsed : [parsed];
  for (const tool of tools as Partial<Tool>[])
    if (typeof tool?.name !== 'string') throw new Error('tools: each needs a name');
  return tools as Tool[];
}
