import { KEY_COMMANDS } from './key-commands.ts';
import { plainCommand } from './plain-commands.ts';
import { writeCommands } from './write-commands.ts';
import { ID, IGNORE_NOT_FOUND, LIMIT, ORGANIZATION, RANGE } from './shared-words.ts';

/** Commands that call a gateway. */
export const REMOTE_COMMANDS = [
  {
    name: 'models',
    summary: 'Create, change and list models, show their prices and routes',
    examples: [{ command: 'gateway models list', note: 'Models that the key may use' }],
  },
  {
    name: 'models list',
    aliases: ['ls'],
    summary: 'List the models that the key may use',
    examples: [
      { command: 'gateway models list', note: 'Every model' },
      { command: 'gateway models list -q --vendor acme', note: 'Only the names of one vendor' },
    ],
    flags: [
      { name: 'vendor', type: 'string', value: 'NAME', description: 'Filter by vendor' },
      {
        name: 'type',
        type: 'string',
        value: 'TYPE',
        description: 'Filter by type: llm, embedding, image, video, audio or api',
      },
      {
        name: 'search',
        type: 'string',
        value: 'TEXT',
        description: 'Filter by text in the name',
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
    formats: ['wide'],
    summary: 'Explain where a request for a model would go now',
    description:
      'Shows the current order of routes in one gateway process: priority, weight, health, and the protocol used with each provider. Needs a key with the scope admin.',
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
          'Protocol of the client: chat (default), responses, messages, generate-content …',
      },
    ],
    load: () => import('../commands/models/models-explain.ts'),
  },
  ...writeCommands({
    kind: 'models',
    create: [
      {
        command: 'gateway models create openai/gpt-5-mini --route openai',
        note: 'By one provider',
      },
      {
        command: 'gateway models add acme/fast --route openai=gpt-5-mini --route azure -o yaml',
        note: 'What gateway.yaml would say',
      },
    ],
    update: [
      {
        command: 'gateway models update acme/fast --context-window 200000 --pricing.input 0.25',
        note: 'What the vendor does not tell',
      },
      {
        command: "gateway models update acme/fast --set 'routes[1].weight=3' --clear pricing",
        note: 'A member of a list, and a field that goes',
      },
    ],
  }),
  ...KEY_COMMANDS,
  {
    name: 'providers',
    summary: 'Create, change and list providers',
    examples: [{ command: 'gateway providers list', note: 'All of them' }],
  },
  {
    name: 'providers list',
    aliases: ['ls'],
    summary: 'List providers with their health',
    description:
      'HEALTH names routes of the provider that are left out after failures, and until when. Processes on one store share this state; failures in a row are counted by the process that answers.',
    examples: [
      { command: 'gateway providers list', note: 'Which one is left out' },
      { command: 'gateway providers list -o json', note: 'With the state of each route' },
    ],
    flags: [],
    load: () => import('../commands/models/providers-list.ts'),
  },
  {
    name: 'providers get',
    summary: 'Show one provider',
    examples: [
      {
        command: 'gateway providers get openai',
        note: 'Its address, settings and health, without secrets',
      },
    ],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/models/providers-get.ts'),
  },
  ...writeCommands({
    kind: 'providers',
    create: [
      {
        command: 'gateway providers create openai --kind openai --api-key env:OPENAI_API_KEY',
        note: 'With the key of a variable, which is read now',
      },
      { command: 'gateway providers create acme -f acme.yaml', note: 'Fields of a file' },
    ],
    update: [
      {
        command: 'gateway providers update openai --api-key file:openai.key',
        note: 'Another key',
      },
    ],
  }),
  {
    name: 'aliases',
    summary: 'Create, change and list other names of models',
    examples: [{ command: 'gateway aliases list', note: 'All of them' }],
  },
  plainCommand('aliases', 'list', {
    summary: 'List other names of models',
    examples: [{ command: 'gateway aliases list -o json', note: 'As JSON' }],
  }),
  plainCommand('aliases', 'get', {
    summary: 'Show one other name',
    examples: [{ command: 'gateway aliases get fast', note: 'The model that it leads to' }],
  }),
  ...writeCommands({
    kind: 'aliases',
    one: 'another name of a model',
    create: [
      {
        command: "gateway aliases create 'claude-*' --model 'anthropic/claude-*'",
        note: 'The names of a vendor without the vendor',
      },
    ],
    update: [{ command: 'gateway aliases update fast --model openai/gpt-5-mini', note: 'Move it' }],
  }),
  {
    name: 'apis',
    summary: 'Create, change and list upstream APIs',
    examples: [{ command: 'gateway apis list', note: 'All of them' }],
  },
  plainCommand('apis', 'list', {
    summary: 'List upstream APIs',
    examples: [{ command: 'gateway apis list -o json', note: 'As JSON' }],
  }),
  plainCommand('apis', 'get', {
    summary: 'Show one upstream API',
    examples: [{ command: 'gateway apis get weather', note: 'Allowed calls, without secrets' }],
  }),
  ...writeCommands({
    kind: 'apis',
    one: 'an upstream API',
    create: [
      {
        command:
          'gateway apis create weather --base-url https://weather.example --api-key env:WEATHER_KEY',
        note: 'Clients call it below /v1/api/weather',
      },
    ],
    update: [{ command: 'gateway apis update weather --methods GET', note: 'For reading alone' }],
  }),
  {
    name: 'organizations',
    aliases: ['orgs'],
    summary: 'Create, change and list organizations, their limits and spending',
    examples: [{ command: 'gateway organizations list', note: 'All of them' }],
  },
  plainCommand('organizations', 'list', {
    examples: [{ command: 'gateway organizations list -o json', note: 'As JSON' }],
  }),
  {
    name: 'organizations get',
    summary: 'Show one organization',
    examples: [{ command: 'gateway organizations get default', note: 'State and spending limit' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/account/organizations-get.ts'),
  },
  ...writeCommands({
    kind: 'organizations',
    create: [
      {
        command: 'gateway organizations create research --spending-limit.month 500',
        note: 'With a limit for all of its keys',
      },
    ],
    update: [
      {
        command: 'gateway organizations update research --credit 100 --label team=core',
        note: 'What was paid in advance, and a label',
      },
    ],
  }),
  {
    name: 'usage',
    lists: 'unnamed',
    summary: 'Show requests, tokens and cost',
    examples: [
      { command: 'gateway usage', note: 'By model' },
      { command: 'gateway usage --by key,day --from 2026-11-01', note: 'By key and day' },
      { command: 'gateway usage --since 24h', note: 'The last day' },
      { command: 'gateway usage --by day --chart', note: 'As a bar chart' },
      {
        command: 'gateway usage --by label:team --month 2026-11 -o csv',
        note: 'A month by a label of keys, for a spreadsheet',
      },
      { command: 'gateway usage --own', note: 'Your organization, without an admin key' },
    ],
    flags: [
      {
        name: 'by',
        type: 'string',
        value: 'GROUP',
        offers: [
          'key',
          'model',
          'vendor',
          'day',
          'organization',
          'agent',
          'service',
          'schedule',
          'conversation',
          'end_user',
          'label:NAME',
          'tag:NAME',
        ],
        repeatable: true,
        description: 'Grouping, by default model',
      },
      {
        name: 'month',
        type: 'string',
        value: 'YYYY-MM',
        excludes: ['from', 'since', 'to'],
        description: 'A month (UTC); the running one with a forecast',
      },
      {
        name: 'limit',
        short: 'n',
        type: 'integer',
        value: 'N',
        min: 1,
        description: 'Maximum number of rows; the rest is one row, other',
      },
      { name: 'chart', type: 'boolean', description: 'Draw a bar chart of cost, or of requests' },
      {
        name: 'own',
        type: 'boolean',
        excludes: ['organization'],
        description: 'Only your organization; needs no admin key',
      },
      ...RANGE,
      ORGANIZATION,
    ],
    formats: ['csv'],
    load: () => import('../commands/account/usage.ts'),
  },
  {
    name: 'logs',
    lists: true,
    summary: 'Show request logs: status, tokens, cost, attempts',
    description:
      'Newest first; with an id, the details of one request. --follow shows each as it ends, oldest first; -o json is NDJSON of records then.',
    examples: [
      {
        command: 'gateway logs --limit 50 --model acme/fast',
        note: 'The 50 most recent of a model',
      },
      { command: 'gateway logs --follow --status error', note: 'Failures as they happen' },
      { command: 'gateway logs --provider openai', note: 'Calls that a provider had a part in' },
      { command: 'gateway logs req_01', note: 'One request: what happened, attempts, cost' },
    ],
    args: [{ name: 'request', description: 'Request id, from the header x-request-id' }],
    flags: [
      LIMIT,
      { name: 'key', type: 'string', value: 'KEY', description: 'Filter by key' },
      { name: 'model', type: 'string', value: 'MODEL', description: 'Filter by model' },
      {
        name: 'provider',
        type: 'string',
        value: 'NAME',
        description: 'Filter by a provider that answered, failed or was left out',
      },
      {
        name: 'conversation',
        type: 'string',
        value: 'ID',
        description: 'Filter by conversation, and show what it cost',
      },
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        description: 'Filter by HTTP status or result',
      },
      {
        name: 'follow',
        short: 'f',
        type: 'boolean',
        excludes: ['to'],
        description: 'Follow requests as they end, from now or from --since, until Ctrl-C',
      },
      ...RANGE,
      ORGANIZATION,
    ],
    endless: { with: ['follow'] },
    load: () => import('../commands/account/logs.ts'),
  },
  {
    name: 'api',
    summary: 'Call any path of the gateway',
    description: 'Makes one authenticated call and prints the response body unchanged.',
    examples: [
      { command: 'gateway api GET /v1/models', note: 'A simple call' },
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
] as const;
