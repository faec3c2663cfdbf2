import type { Document } from '../../e2e/api/openapi-checker.ts';
import { operationsOf } from '../../e2e/api/openapi-checker.ts';
import { PNG } from '../../support/stage/media-studio.ts';
import type { Call } from './api-world.ts';
import { CANARIES } from './api-world.ts';
import { INITIALIZE, MCP_HEADERS, SHARED_NAME, SKILL } from './belongings.ts';
import type { Belongings } from './belongings.ts';

/** What is named in calls: things of an organization, and a host outside. */
export interface Named extends Belongings {
  outside: string;
}

export interface Sample extends Call {
  /** As the document has it: `POST /v1/agents/{id}`. */
  operation: string;
}

type Said = Pick<Call, 'body' | 'form' | 'headers'>;

const text = (said: string) => ({ type: 'text', text: said });
const note = (file: string) => ({ type: 'document', source: { type: 'file', file_id: file } });
const message = (named: Named) => ({
  type: 'user.message',
  content: [text('hello'), note(named.file)],
});
const skills = ({ skill }: Named) => [{ type: 'custom', skill_id: skill }];
const MODEL = 'acme/text';

/** The ways to say each operation that takes a body, with everything that it can name. */
const BODIES: Readonly<Record<string, (named: Named) => readonly Said[]>> = {
  'POST /v1/agents': (named) => [
    {
      body: {
        name: 'another',
        model: { id: MODEL, effort: 'high' },
        description: 'Helps.',
        system: 'Be kind.',
        tools: [
          { type: 'custom', name: 'look', description: 'Looks.', input_schema: { type: 'object' } },
          { type: 'mcp_toolset', mcp_server_name: 'docs' },
        ],
        mcp_servers: [{ type: 'url', name: 'docs', url: `${named.outside}/mcp` }],
        skills: skills(named),
        metadata: { team: 'a' },
      },
    },
  ],
  'POST /v1/agents/{id}': (named) => [{ body: { skills: skills(named) } }],
  'PATCH /v1/agents/{id}': (named) => [
    { body: { skills: skills(named) } },
    { body: { description: 'Other.' } },
  ],
  'POST /v1/credentials': ({ agent }) => [
    {
      body: {
        agent_id: agent,
        scope: 'mcp',
        scope_name: 'docs',
        secret_key: 'TOKEN',
        value: CANARIES.credential,
        weight: 2,
      },
    },
  ],
  'POST /v1/credentials/{id}': () => [{ body: { weight: 3 } }],
  'PATCH /v1/credentials/{id}': () => [{ body: { status: 'disabled' } }],
  'POST /v1/credentials/{id}/rotate': () => [{ body: { value: CANARIES.credential } }],
  'POST /v1/deployments': (named) => [
    { body: deploymentOf(named) },
    {
      body: {
        ...deploymentOf(named),
        agent_id: null,
        agent_config: null,
        runtime: { type: 'agent', model: MODEL, skills: skills(named) },
      },
    },
  ],
  'POST /v1/deployments/{id}': (named) => [{ body: { initial_events: [message(named)] } }],
  'PATCH /v1/deployments/{id}': (named) => [
    { body: { agent_config: { skills: skills(named) } } },
    { body: { agent_id: named.agent } },
  ],
  'POST /v1/endpoints': (named) => [
    { body: { name: 'another', agent_id: named.agent, protocols: ['rest', 'mcp', 'acp'] } },
    {
      body: {
        name: 'another',
        protocols: ['rest'],
        runtime: { type: 'agent', model: MODEL, skills: skills(named) },
      },
    },
  ],
  'POST /v1/endpoints/{id}': ({ agent }) => [{ body: { agent_id: agent } }],
  'PATCH /v1/endpoints/{id}': () => [{ body: { name: 'renamed' } }],
  'POST /v1/endpoints/{id}/run': (named) => [
    { body: { input: 'hello', session_id: named.session } },
    { body: { content: [text('hello'), note(named.file)] } },
  ],
  'POST /v1/endpoints/{id}/mcp': (named) => [
    { body: INITIALIZE, headers: MCP_HEADERS },
    ...[{ name: 'send_message', input: 'hello' }, { name: 'get_session' }].map(
      ({ name, ...rest }) => ({
        body: {
          jsonrpc: '2.0',
          id: 2,
          method: 'tools/call',
          params: { name, arguments: { ...rest, session_id: named.session } },
        },
        headers: { ...MCP_HEADERS, 'mcp-session-id': named.transport },
      }),
    ),
  ],
  'GET /v1/endpoints/{id}/mcp': ({ transport }) => [
    { headers: { ...MCP_HEADERS, 'mcp-session-id': transport } },
  ],
  'DELETE /v1/endpoints/{id}/mcp': ({ transport }) => [
    { headers: { 'mcp-session-id': transport } },
  ],
  'POST /v1/endpoints/{id}/acp': (named) => [
    {
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: 1, clientCapabilities: {} },
      },
    },
    ...['session/load', 'session/prompt'].map((method) => ({
      body: {
        jsonrpc: '2.0',
        id: 2,
        method,
        params: {
          sessionId: named.session,
          cwd: '/',
          mcpServers: [],
          prompt: [text('hello')],
        },
      },
    })),
  ],
  'POST /v1/sessions': (named) => [
    { body: { agent: named.agent, title: 'A talk', initial_events: [message(named)] } },
    { body: { agent: { type: 'agent', id: named.agent }, metadata: { a: 'b' } } },
    {
      body: {
        agent: { type: 'agent_with_overrides', id: named.agent, skills: skills(named) },
        vault_ids: ['vault_one'],
        resources: [{ type: 'file', file_id: named.file }],
      },
    },
  ],
  'POST /v1/sessions/{id}': () => [{ body: { title: 'Other' } }],
  'PATCH /v1/sessions/{id}': () => [{ body: { metadata: { a: null, b: 'c' } } }],
  'POST /v1/sessions/{id}/events': (named) => [{ body: { events: [message(named)] } }],
  'POST /v1/files': () => [{ form: [['file', new Blob(['A note.'], { type: 'text/plain' })]] }],
  'POST /v1/skills': () => [{ body: { name: 'another', files: { 'SKILL.md': SKILL } } }],
  'POST /v1/skills/{id}/versions': () => [{ body: { files: { 'SKILL.md': SKILL } } }],
  'POST /v1/run': ({ outside, asset }) => [
    { body: { model: MODEL, input: { messages: [userMessage([picture(asset)])] } } },
    {
      body: {
        model: MODEL,
        input: { messages: [userMessage('hello')] },
        webhook_url: `${outside}/hook`,
      },
    },
  ],
  'POST /v1/assets': ({ outside }) => [
    { body: { url: `${outside}/photo.png`, asset_type: 'Image', name: SHARED_NAME } },
  ],
  'POST /v1/videos': ({ asset }) => [
    { body: { model: 'acme/film', prompt: 'A fox.' } },
    { body: { model: 'acme/film', prompt: 'A fox.', image_url: asset } },
  ],
  'POST /v1/contents/generations/tasks': ({ asset }) => [
    { body: { model: 'acme/film', content: [text('A fox.'), picture(asset)] } },
  ],
  'POST /v1/chat/completions': ({ asset }) => [
    { body: { model: MODEL, messages: [userMessage([text('hello'), picture(asset)])] } },
    { body: { model: MODEL, messages: [userMessage('hello')], stream: true } },
  ],
  'POST /v1/responses': ({ asset, response }) => [
    {
      body: {
        model: MODEL,
        input: [userMessage([{ type: 'input_image', image_url: asset }])],
      },
    },
    { body: { model: MODEL, input: 'hello', previous_response_id: response } },
  ],
  'POST /v1/responses/input_tokens': continued,
  'POST /v1/responses/compact': continued,
  'POST /v1/messages': ({ asset }) => [
    {
      body: {
        model: MODEL,
        max_tokens: 9,
        messages: [
          userMessage([text('hello'), { type: 'image', source: { type: 'url', url: asset } }]),
        ],
      },
    },
  ],
  'POST /v1/messages/count_tokens': () => [
    { body: { model: MODEL, messages: [userMessage('hello')] } },
  ],
  'POST /v1/embeddings': () => [{ body: { model: 'acme/vectors', input: ['hello'] } }],
  'POST /v1/images/generations': ({ asset }) => [
    { body: { model: 'acme/pictures', prompt: 'A fox.' } },
    { body: { model: 'acme/pictures', prompt: 'A fox.', image: asset } },
  ],
  'POST /v1/images/edits': () => [
    {
      form: [
        ['model', 'acme/pictures'],
        ['prompt', 'A fox.'],
        ['image', new Blob([PNG], { type: 'image/png' })],
      ],
    },
  ],
  ...forVersions('POST', '/interactions', ({ interaction, asset }) => [
    { body: { model: MODEL, input: 'hello', previous_interaction_id: interaction } },
    { body: { model: MODEL, input: [{ type: 'image', uri: asset }] } },
  ]),
  ...forVersions('POST', '/models/{model}:generateContent', contents),
  ...forVersions('POST', '/models/{model}:streamGenerateContent', contents),
  ...forVersions('POST', '/models/{model}:countTokens', () => [
    { body: { contents: [{ parts: [{ text: 'hello' }] }] } },
  ]),
};

function deploymentOf(named: Named): object {
  return {
    name: 'another',
    agent_id: named.agent,
    agent_config: { skills: skills(named), tools: [{ type: 'agent_toolset_20260401' }] },
    initial_events: [message(named)],
    schedule: { type: 'cron', expression: '0 7 1 1 *', timezone: 'Europe/Berlin' },
    timeout_policy: { session_timeout_seconds: 60 },
    notification_settings: { chat_webhook_url: `${named.outside}/bots/${CANARIES.hook}` },
    vault_ids: ['vault_one'],
    metadata: { team: 'a' },
  };
}

function continued({ response }: Named): Said[] {
  return [{ body: { model: MODEL, input: 'hello', previous_response_id: response } }];
}

function contents({ asset }: Named): Said[] {
  const file = { fileData: { mimeType: 'image/png', fileUri: asset } };
  return [{ body: { contents: [{ role: 'user', parts: [{ text: 'hello' }, file] }] } }];
}

function forVersions(
  method: string,
  path: string,
  said: (named: Named) => readonly Said[],
): Record<string, (named: Named) => readonly Said[]> {
  return { [`${method} /v1beta${path}`]: said, [`${method} /v1${path}`]: said };
}

function userMessage(content: unknown): object {
  return { role: 'user', content };
}

function picture(url: string): object {
  return { type: 'image_url', image_url: { url } };
}

/** What `{id}` below a path is. */
export const OWNED: Readonly<Record<string, keyof Belongings>> = {
  '/v1/account/executions': 'execution',
  '/v1/agents': 'agent',
  '/v1/assets': 'assetId',
  '/v1/contents/generations/tasks': 'video',
  '/v1/credentials': 'credential',
  '/v1/deployment_runs': 'deploymentRun',
  '/v1/deployments': 'deployment',
  '/v1/endpoints': 'service',
  '/v1/files': 'file',
  '/v1/interactions': 'interaction',
  '/v1/responses': 'response',
  '/v1/run': 'run',
  '/v1/sessions': 'session',
  '/v1/skills': 'skill',
  '/v1/tasks': 'run',
  '/v1/videos': 'video',
  '/v1/webhooks/deliveries': 'delivery',
  '/v1beta/interactions': 'interaction',
};
/** What the platform has in common. */
const COMMON: Readonly<Record<string, string>> = {
  '/v1/models': 'acme/text',
  '/v1beta/models': 'acme/text',
};
const OTHERS: Readonly<Record<string, (named: Named) => string>> = {
  run: ({ deploymentRun }) => deploymentRun,
  version: ({ skillVersion }) => skillVersion,
  model: () => 'text',
  vendor: () => 'weather',
  upstream_path: () => 'forecast',
};

/** The thing that the path of an operation names, where one organization owns it. */
export function ownedBy(path: string): keyof Belongings | undefined {
  const collection = /^(.*?)\/\{id\}/.exec(path)?.[1];
  if (collection === undefined || collection in COMMON) return undefined;
  const found = OWNED[collection];
  // A new kind fails here until these tests know one of it.
  if (!found) throw new Error(`what is {id} of ${path}?`);
  return found;
}

/** Its link says all that is asked of whoever has it. */
export const LINKED = '/v1/assets/{id}/content';

/** A path with everything named; `given` is what stands in place of parameters, as it is. */
export function pathTo(
  path: string,
  named: Named,
  given: Readonly<Record<string, string>> = {},
): string {
  if (path === LINKED && !('id' in given)) return named.assetLink;
  return path.replace(/\{(\w+)\}/g, (_whole, parameter: string) => {
    if (given[parameter] !== undefined) return given[parameter];
    const collection = path.slice(0, path.indexOf('/{id}'));
    const owned = parameter === 'id' ? ownedBy(path) : undefined;
    if (owned) return encodeURIComponent(named[owned]);
    const value = parameter === 'id' ? COMMON[collection] : OTHERS[parameter]?.(named);
    if (value === undefined) throw new Error(`what is {${parameter}} of ${path}?`);
    return value;
  });
}

/** Every documented operation in each of the ways to say it, naming these things. */
export function sampleCalls(document: Document, named: Named): Sample[] {
  return operationsOf(document).flatMap(({ method, path }) => {
    const operation = `${method} ${path}`;
    const said = BODIES[operation]?.(named) ?? [{}];
    return said.map((one) => ({ operation, method, path: pathTo(path, named), ...one }));
  });
}
