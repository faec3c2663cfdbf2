// One prompt through the client libraries that people have, for the demo.
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

const CLIENTS = {
  'openai, chat completions': async ({ url, key, model, prompt }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
    const messages = [{ role: 'user', content: prompt }];
    const answer = await client.chat.completions.create({ model, messages });
    return answer.choices[0].message.content;
  },
  'openai, responses': async ({ url, key, model, prompt }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
    return (await client.responses.create({ model, input: prompt })).output_text;
  },
  '@anthropic-ai/sdk, messages': async ({ url, key, model, prompt }) => {
    const client = new Anthropic({ baseURL: url, apiKey: key });
    const messages = [{ role: 'user', content: prompt }];
    const answer = await client.messages.create({ model, max_tokens: 100, messages });
    return answer.content.map((block) => block.text ?? '').join('');
  },
  '@google/genai, generate-content': async ({ url, key, model, prompt }) => {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
    return (await client.models.generateContent({ model, contents: prompt })).text;
  },
};

/**
 * Asks `model` with every client library; gives what each got, by its name.
 *
 * @param {{ url: string, key: string, model: string, prompt: string }} question
 */
export async function askWithEveryClient(question) {
  const answers = {};
  for (const [name, ask] of Object.entries(CLIENTS)) answers[name] = await ask(question);
  return answers;
}
