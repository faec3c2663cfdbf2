import type { CommandSpec } from '../command.ts';
import { KEY_COMMANDS } from './key-commands.ts';
import { loadGet, loadList } from './plain-commands.ts';
import { ID, IGNORE_NOT_FOUND, LIMIT, ORGANIZATION, RANGE } from './shared-words.ts';

/** Commands that call a gateway. */
export const REMOTE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'chat',
    summary: 'Ask a model',
    description:
      'Sends one message and prints the answer while it arrives. Without a prompt, or with -, the prompt is read from stdin. With -o json the stream is NDJSON.',
    examples: [
      { command: 'gateway chat mock/echo "hello"', note: 'One question' },
      {
        command: 'git diff | gateway chat acme/fast --system "Review this"',
        note: 'The prompt from a pipe',
      },
    ],
    args: [
      {
        name: 'model',
        required: true,
        description: 'Name of the model, as `gateway models list` shows it',
      },
      { name: 'prompt', description: 'What to say; - reads stdin' },
    ],
    flags: [
      {
        name: 'system',
        short: 's',
        type: 'string',
        value: 'TEXT',
        description: 'System message in front',
      },
      { name: 'no-stream', type: 'boolean', description: 'Wait for the whole answer' },
    ],
    load: () => import('../commands/models/chat.ts'),
  },
  {
    name: 'models',
    summary: 'List models, see their prices and where requests go',
    examples: [{ command: 'gateway models list', note: 'What the key may use' }],
  },
  {
    name: 'models list',
    aliases: ['ls'],
    summary: 'List the models that the key may use, with prices and routes',
    examples: [
      { command: 'gateway models list', note: 'Every model' },
      { command: 'gateway models list -q --vendor acme', note: 'Only the names of one vendor' },
    ],
    flags: [
      { name: 'vendor', type: 'string', value: 'NAME', description: 'Only models of this vendor' },
      {
        name: 'type',
        type: 'string',
        value: 'TYPE',
        description: 'Only llm, embedding, image, video, audio or api',
      },
      {
        name: 'search',
        type: 'string',
        value: 'TEXT',
        description: 'Only names that contain this',
      },
    ],
    load: () => import('../commands/models/models-list.ts'),
  },
  {
    name: 'models get',
    summary: 'Show one model',
    examples: [
      { command: 'gateway models get acme/fast', note: 'Capabilities, schema and prices' },
    ],
    args: [{ name: 'name', required: true, description: 'Name of the model' }],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/models/models-get.ts'),
  },
  {
    name: 'models explain',
    summary: 'Show where a request for a model would go now, and why',
    description:
      'The order of this moment in one gateway process: priorities, weights, health, and the protocol in which each provider would be asked. Needs a key with the scope admin.',
    examples: [
      { command: 'gateway models explain acme/fast', note: 'For chat completions' },
      {
        command: 'gateway models explain acme/fast --protocol messages',
        note: 'For clients of another protocol',
      },
    ],
    args: [{ name: 'name', required: true, description: 'Name of the model' }],
    flags: [
      {
        name: 'protocol',
        type: 'string',
        value: 'PROTOCOL',
        description:
          'What the client speaks: chat (default), responses, messages, generate-content …',
      },
    ],
    load: () => import('../commands/models/models-explain.ts'),
  },
  ...KEY_COMMANDS,
  {
    name: 'providers',
    summary: 'See the providers that requests are routed to',
    examples: [{ command: 'gateway providers list', note: 'All of them' }],
  },
  {
    name: 'providers list',
    aliases: ['ls'],
    summary: 'List providers',
    examples: [{ command: 'gateway providers list -o json', note: 'As JSON' }],
    load: loadList('providers'),
  },
  {
    name: 'providers get',
    summary: 'Show one provider',
    examples: [
      { command: 'gateway providers get openai', note: 'Its address and settings, no secret' },
    ],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadGet('providers'),
  },
  {
    name: 'apis',
    summary: 'See upstream APIs that clients call by path',
    examples: [{ command: 'gateway apis list', note: 'All of them' }],
  },
  {
    name: 'apis list',
    aliases: ['ls'],
    summary: 'List upstream APIs',
    examples: [{ command: 'gateway apis list -o json', note: 'As JSON' }],
    load: loadList('apis'),
  },
  {
    name: 'apis get',
    summary: 'Show one upstream API',
    examples: [{ command: 'gateway apis get weather', note: 'What clients may call, no secret' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadGet('apis'),
  },
  {
    name: 'organizations',
    aliases: ['orgs'],
    summary: 'See organizations, their limits and what they spent',
    examples: [{ command: 'gateway organizations list', note: 'All of them' }],
  },
  {
    name: 'organizations list',
    aliases: ['ls'],
    summary: 'List organizations',
    examples: [{ command: 'gateway organizations list -o json', note: 'As JSON' }],
    load: loadList('organizations'),
  },
  {
    name: 'organizations get',
    summary: 'Show one organization',
    examples: [{ command: 'gateway organizations get default', note: 'State and spending limit' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/account/organizations-get.ts'),
  },
  {
    name: 'usage',
    summary: 'Show requests, tokens and cost',
    examples: [
      { command: 'gateway usage', note: 'By model' },
      { command: 'gateway usage --by key --by day --from 2026-11-01', note: 'By key and day' },
      { command: 'gateway usage --since 24h', note: 'Of the last day' },
      { command: 'gateway usage --by day --chart', note: 'As bars' },
      { command: 'gateway usage --own', note: 'Of your organization, without an admin key' },
    ],
    flags: [
      {
        name: 'by',
        type: 'string',
        value: 'GROUP',
        choices: ['key', 'model', 'day', 'organization'],
        repeatable: true,
        description: 'What makes a row (default: model)',
      },
      { name: 'chart', type: 'boolean', description: 'Draw bars of the cost, or of the requests' },
      {
        name: 'own',
        type: 'boolean',
        description: 'Of your organization; needs no admin key',
      },
      ...RANGE,
      ORGANIZATION,
    ],
    load: () => import('../commands/account/usage.ts'),
  },
  {
    name: 'logs',
    summary: 'Show request logs: status, tokens, cost, attempts',
    description:
      'Newest first; with an id, everything that is known of one request. With --follow each as it ends, oldest first; then -o json is NDJSON of records.',
    examples: [
      { command: 'gateway logs --limit 50 --model acme/fast', note: 'The last 50 of a model' },
      { command: 'gateway logs --follow --status error', note: 'What fails, as it happens' },
      { command: 'gateway logs req_01', note: 'One request: attempts, losses, cost' },
    ],
    args: [{ name: 'request', description: 'Id of one request, the x-request-id of its answer' }],
    flags: [
      LIMIT,
      { name: 'key', type: 'string', value: 'KEY', description: 'Only of this key' },
      { name: 'model', type: 'string', value: 'MODEL', description: 'Only of this model' },
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        description: 'Only with this HTTP status or result',
      },
      {
        name: 'follow',
        short: 'f',
        type: 'boolean',
        description: 'Those that end from now on, or from --since, until Ctrl-C',
      },
      ...RANGE,
      ORGANIZATION,
    ],
    load: () => import('../commands/account/logs.ts'),
  },
  {
    name: 'api',
    summary: 'Call any path of the gateway',
    description: 'Makes one authenticated call and prints the body of the answer as it is.',
    examples: [
      { command: 'gateway api GET /v1/models', note: 'A plain call' },
      { command: 'gateway api POST /v1/embeddings -d @body.json', note: 'With a body from a file' },
    ],
    args: [
      { name: 'method', required: true, description: 'GET, POST, PATCH, PUT or DELETE' },
      { name: 'path', required: true, description: 'Path with its query' },
    ],
    flags: [
      {
        name: 'data',
        short: 'd',
        type: 'string',
        value: 'JSON',
        description: 'Body: JSON, @FILE, or - for stdin',
      },
    ],
    load: () => import('../commands/models/api.ts'),
  },
];
