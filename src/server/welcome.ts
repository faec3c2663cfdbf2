import type { FirstStart } from '../resources/bootstrap.ts';

export interface WelcomeFacts {
  url: string;
  adminKeyFile: string;
  made: FirstStart | undefined;
  /** A model to try, if there is one. */
  model: string | undefined;
}

/** What a person sees when the gateway is up: the address, the keys and something to paste. */
export function welcome({ url, adminKeyFile, made, model }: WelcomeFacts): string {
  const lines = [`gateway listening on ${url}`];
  if (!made) return `${lines[0]}\n`;
  lines.push(
    '',
    `  admin key   kept in ${adminKeyFile} (the gateway command finds it by itself)`,
    `  client key  ${made.clientKey}`,
    '              shown only now; make more with: gateway keys create NAME',
  );
  if (model !== undefined) lines.push('', ...snippets(url, made.clientKey, model));
  return `${lines.join('\n')}\n\n`;
}

function snippets(url: string, key: string, model: string): string[] {
  return [
    'Try it with curl:',
    '',
    `  curl -s ${url}/v1/chat/completions -H 'authorization: Bearer ${key}' \\`,
    `    -H 'content-type: application/json' \\`,
    `    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
    '',
    'or with the OpenAI client:',
    '',
    `  import OpenAI from 'openai';`,
    `  const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });`,
    `  const stream = await client.chat.completions.create({`,
    `    model: '${model}', stream: true, messages: [{ role: 'user', content: 'Hello!' }],`,
    `  });`,
    `  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`,
  ];
}
