import type { FirstStart } from '../../resources/bootstrap.ts';

export interface WelcomeFacts {
  url: string;
  /** `server.public_url`. */
  publicUrl?: string | null;
  /** Address of the console; undefined where it is not served. */
  consoleUrl?: string | undefined;
  adminKeyFile: string;
  made: FirstStart | undefined;
  /** A model to try, if there is one. */
  model: string | undefined;
}

/** Text for a person when the gateway is up: the address, the keys and something to paste. */
export function welcome({
  url,
  publicUrl,
  consoleUrl,
  adminKeyFile,
  made,
  model,
}: WelcomeFacts): string {
  const lines = [
    `gateway listening on ${url}`,
    '',
    ...(publicUrl ? [`  public      ${publicUrl}`] : []),
    ...(consoleUrl === undefined
      ? []
      : [`  console     ${consoleUrl} (gateway console opens it signed in)`]),
    `  admin key   kept in ${adminKeyFile} (the gateway command finds it by itself)`,
  ];
  if (!made) {
    lines.push(
      '  client keys were shown when they were made; for another: gateway keys create NAME',
    );
    return `${lines.join('\n')}\n\n`;
  }
  const { clientKey } = made;
  lines.push(...clientKeyLines(made));
  if (model !== undefined && clientKey !== undefined)
    lines.push('', ...snippets(url, clientKey, model));
  return `${lines.join('\n')}\n\n`;
}

/** Shows the client key of a first start that made its keys and then failed: a later one does not show it. */
export function clientKeyNote(made: FirstStart): string {
  return `${clientKeyLines(made).join('\n')}\n`;
}

function clientKeyLines({ clientKey }: FirstStart): string[] {
  if (clientKey === undefined) return ['  client keys are those that the configuration declares'];
  return [
    `  client key  ${clientKey}`,
    '              shown only now; for another: gateway keys create NAME',
  ];
}

function snippets(url: string, key: string, model: string): string[] {
  return [
    'Try it with curl:',
    '',
    `  curl ${url}/v1/chat/completions \\`,
    `    -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\`,
    `    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
    '',
    'Or with the OpenAI client (npm install openai):',
    '',
    `  import OpenAI from 'openai';`,
    `  const client = new OpenAI({`,
    `    baseURL: '${url}/v1',`,
    `    apiKey: '${key}',`,
    `  });`,
    `  const stream = await client.chat.completions.create({`,
    `    model: '${model}',`,
    `    messages: [{ role: 'user', content: 'Hello!' }],`,
    `    stream: true,`,
    `  });`,
    `  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`,
  ];
}
