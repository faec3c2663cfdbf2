import { dirname } from 'node:path';
import { toShellWord } from '../../core/shell-word.ts';
import type { FirstStart } from '../../resources/bootstrap.ts';

/** Where the admin key of a data directory is. */
export interface AdminKeyPlace {
  file: string;
  /** False: nothing is there, as on a second machine and after a restore. */
  isKept: boolean;
  /** True: commands in the working directory find it by themselves. */
  isFound: boolean;
  /** Command that makes another admin key. */
  recovery: string;
}

export interface WelcomeFacts {
  url: string;
  /** `server.public_url`. */
  publicUrl?: string | null;
  /** Address of the console; undefined where it is not served. */
  consoleUrl?: string | undefined;
  admin: AdminKeyPlace;
  /** The file of the first client key, where there is one. */
  clientKeyFile?: string | undefined;
  made: FirstStart | undefined;
  /** A model to try, if there is one. */
  model: string | undefined;
}

/** Text for a person when the gateway is up: the address, the keys and something to paste. */
export function welcome(facts: WelcomeFacts): string {
  const { url, publicUrl, consoleUrl, admin, clientKeyFile, made, model } = facts;
  const signsIn = admin.isKept && admin.isFound ? ' (gateway console opens it signed in)' : '';
  const lines = [
    `gateway listening on ${url}`,
    '',
    ...(publicUrl ? [`  public      ${publicUrl}`] : []),
    ...(consoleUrl === undefined ? [] : [`  console     ${consoleUrl}${signsIn}`]),
    ...adminKeyLines(admin, url),
  ];
  if (!made) {
    if (clientKeyFile !== undefined) lines.push(`  client key  kept in ${clientKeyFile}`);
    const which = clientKeyFile === undefined ? 'client keys' : 'other client keys';
    lines.push(`  ${which} were shown when they were made; for another: gateway keys create NAME`);
    return `${lines.join('\n')}\n\n`;
  }
  const { clientKey } = made;
  lines.push(...clientKeyLines(made));
  if (model !== undefined && clientKey !== undefined)
    lines.push('', ...snippets(url, clientKey, model));
  return `${lines.join('\n')}\n\n`;
}

function adminKeyLines({ file, isKept, isFound, recovery }: AdminKeyPlace, url: string): string[] {
  if (!isKept) return [`  admin key   none in ${dirname(file)}; ${recovery} makes one`];
  const kept = `  admin key   kept in ${file}`;
  if (isFound) return [`${kept} (the gateway command finds it by itself)`];
  const variables = `GATEWAY_SERVER=${url} GATEWAY_API_KEY_FILE=${toShellWord(file)}`;
  return [kept, `              for the gateway command: export ${variables}`];
}

/** The same where only lines of a log are written, so without any key. */
export function welcomeLines(facts: WelcomeFacts): string[] {
  const { url, consoleUrl, admin, clientKeyFile, made } = facts;
  const kept = admin.isKept
    ? `the admin key is in ${admin.file}`
    : `there is no admin key in ${dirname(admin.file)}; ${admin.recovery} makes one`;
  const client =
    made?.clientKey === undefined ? [] : [`the first client key is in ${clientKeyFile}`];
  return [
    ...(made || !admin.isKept ? [kept] : []),
    ...client,
    ...(consoleUrl === undefined ? [] : [`the console is at ${consoleUrl}`]),
    // A reader that waits for the address has the rest by then.
    `gateway listening on ${url}`,
  ];
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
