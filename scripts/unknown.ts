// Prints which paths and members of the official clients the gateway does not know, from the code and the types
// of the clients themselves: `npm run unknown`. docs/endpoints.md shows the same list.
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { CLIENTS } from '../test/protocols/translating.ts';
import type { Spoken } from '../test/protocols/translating.ts';
import { send } from '../test/protocols/whole-requests/silent-losses.ts';
import { startGateway } from '../test/support/gateway.ts';

const MODULES = new URL('../node_modules/', import.meta.url);

interface Library {
  readonly name: string;
  /** `GET /v1/files/{}` for each call. */
  calls(): string[];
}

const LIBRARIES: readonly Library[] = [
  { name: 'openai', calls: () => stainlessCalls('openai/resources/', '/v1') },
  { name: '@anthropic-ai/sdk', calls: () => stainlessCalls('@anthropic-ai/sdk/resources/', '') },
  { name: '@google/genai', calls: () => genaiCalls('@google/genai/dist/index.mjs') },
];

interface Request {
  readonly protocol: Spoken;
  readonly file: string;
  readonly type: string;
  /** A request with this member, and what others need to mean something. */
  toBody(member: Readonly<Record<string, unknown>>): object;
}

const HELLO = [{ role: 'user', content: 'hello' }];
const REQUESTS: readonly Request[] = [
  {
    protocol: 'chat',
    file: 'openai/resources/chat/completions/completions.d.ts',
    type: 'ChatCompletionCreateParamsBase',
    toBody: (member) => ({
      model: 'm',
      messages: HELLO,
      logprobs: true,
      tools: [{ type: 'function', function: { name: 'look', parameters: {} } }],
      ...member,
    }),
  },
  {
    protocol: 'responses',
    file: 'openai/resources/responses/responses.d.ts',
    type: 'ResponseCreateParamsBase',
    toBody: (member) => ({
      model: 'm',
      input: 'hello',
      tools: [{ type: 'function', name: 'look', parameters: {}, strict: false }],
      ...member,
    }),
  },
  {
    protocol: 'messages',
    file: '@anthropic-ai/sdk/resources/messages/messages.d.ts',
    type: 'MessageCreateParamsBase',
    toBody: (member) => ({
      model: 'm',
      max_tokens: 9,
      messages: HELLO,
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      ...member,
    }),
  },
  {
    protocol: 'generate-content',
    file: '@google/genai/dist/genai.d.ts',
    type: 'GenerationConfig',
    toBody: (member) => ({
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      generationConfig: { responseLogprobs: true, ...member },
    }),
  },
];

/** Values of the types that a member may have. */
const VALUES: readonly unknown[] = ['text', 'low', 'auto', 1, true, ['text'], { type: 'auto' }];

/** First and second segment of a call below its version, where they are no variables. */
const ROOTS = /^\S+ ((?:\/v1(?:beta)?)?\/[^/:]+)(\/[^/:{]+)?/;

/** The list, in Markdown. @param operations `GET /v1/models` of the OpenAPI document */
export function unknownText(operations: readonly string[]): string {
  const served = new Set(operations.map(bare));
  const paths = LIBRARIES.map(({ name, calls }) => {
    const absent = [...new Set(calls().map(bare))].filter((call) => !served.has(call));
    return `- ${name}: ${groups(absent, served).join(', ')}`;
  });
  const members = REQUESTS.map((request) => {
    const names = untranslated(request).map((name) => `\`${name}\``);
    return `- ${request.protocol}: ${names.join(', ') || 'none'}`;
  });
  return [
    'Paths of the newest official clients that nothing serves; a tree of paths is followed by their number:',
    paths.join('\n'),
    'Members of their requests that no other protocol has: providers of the protocol get them as they are, and translated requests are sent without them, named in `x-gateway-dropped-fields`:',
    members.join('\n'),
  ].join('\n\n');
}

/** `POST /v1/files/{}` for each spelling of a variable. */
function bare(call: string): string {
  return call.replace(/\{[^}]*\}/g, '{}').replace(/\?.*$/, '');
}

/** Trees of which nothing is served, and the other calls one by one. */
function groups(calls: readonly string[], served: ReadonlySet<string>): string[] {
  const rootsOf = (call: string): string[] => {
    const [, root = '', below = ''] = ROOTS.exec(call) ?? [];
    return below === '' ? [root] : [root, root + below];
  };
  const known = new Set([...served].flatMap(rootsOf));
  const trees = new Map<string, number>();
  const single: string[] = [];
  for (const call of calls) {
    const tree = rootsOf(call).find((root) => !known.has(root));
    if (tree === undefined) single.push(`\`${call.replaceAll('{}', '{id}')}\``);
    else trees.set(tree, (trees.get(tree) ?? 0) + 1);
  }
  const shown = [...trees].map(([root, count]) => `\`${root}\` (${count})`);
  return [...shown.sort(), ...single.sort()];
}

/** Calls of clients that are generated: `this._client.post(path `/files/${id}`)`. */
function stainlessCalls(folder: string, version: string): string[] {
  const root = new URL(folder, MODULES);
  const files = readdirSync(root, { recursive: true }).map(String);
  return files
    .filter((file) => file.endsWith('.mjs'))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, root), 'utf8');
      const call =
        /_client\.(get|post|put|patch|delete|getAPIList)\(\s*(?:path\s*)?['`]([^'`]+)['`]/g;
      return [...text.matchAll(call)].map(([, method = '', path = '']) => {
        const verb = method === 'getAPIList' ? 'GET' : method.toUpperCase();
        return `${verb} ${version}${path.replace(/\$\{[^}]*\}/g, '{}')}`;
      });
    });
}

/** Calls of Google's client, whose paths have names for the resources that vary. */
function genaiCalls(file: string): string[] {
  const text = read(file);
  const call = /formatMap\('([^']+)'[\s\S]{0,900}?httpMethod: '(\w+)'/g;
  return [...text.matchAll(call)].flatMap(([, path = '', method = '']) => {
    const below = path.replace(/^\{model\}/, 'models/{}');
    return /^(\{|upload\/)/.test(below) ? [] : [`${method} /v1beta/${below}`];
  });
}

/** Members of the type that are left out, and named, for every other protocol. */
function untranslated({ protocol, file, type, toBody }: Request): string[] {
  const others = CLIENTS.filter((one) => one !== protocol);
  return membersOf(read(file), type).filter((name) => {
    const sent = VALUES.flatMap((value) =>
      others.map((provider) =>
        send({ client: protocol, provider, model: 'm' }, toBody({ [name]: value })),
      ),
    ).filter((one) => one !== undefined);
    const isNamed = (loss: string): boolean => loss === name || loss.endsWith(`.${name}`);
    return sent.length > 0 && sent.every(({ losses }) => losses.some(isNamed));
  });
}

function read(file: string): string {
  return readFileSync(new URL(file, MODULES), 'utf8').replaceAll('\r\n', '\n');
}

/** Names of the members of an interface or class, in their order. */
function membersOf(text: string, type: string): string[] {
  const start = new RegExp(`(?:interface|class) ${type}\\b[^{]*\\{\\n`).exec(text);
  if (!start) throw new Error(`no type ${type}`);
  const from = start.index + start[0].length;
  const body = text.slice(from, text.indexOf('\n}\n', from));
  const found = [...body.matchAll(/^ {4}['"]?(\w+)['"]?\??:/gm)].map(([, name = '']) => name);
  if (found.length === 0) throw new Error(`no member of ${type}`);
  return found.sort();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const gateway = await startGateway();
  const { body } = await gateway.call('GET', '/openapi.json');
  await gateway.stop();
  console.log(unknownText(callsIn(body)));
}

/** `GET /v1/models` for each operation of an OpenAPI document. */
export function callsIn(document: { paths: Record<string, object> }): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}
