import type { ArgSpec } from '../command.ts';

const NAME = {
  name: 'name',
  required: true,
  description: 'Name of the context',
} as const satisfies ArgSpec;

/** Commands that show or choose the gateway and the key of calls. */
export const CONNECTION_COMMANDS = [
  {
    name: 'login',
    summary: 'Store the key for a gateway',
    description:
      'Reads the key from --api-key-file, from stdin, or hidden from the terminal, and checks it with the gateway. With --sso you sign in at the identity provider of the gateway (server.sso) and get a key of your own that lasts for a while. Stores both as a context, which commands use from then on, in contexts.yaml of the configuration directory, readable only by you.',
    examples: [
      { command: 'gateway login https://gateway.example', note: 'Prompt for the key' },
      {
        command: 'gateway login https://gateway.example --context prod < key',
        note: 'With a name, and the key from a pipe',
      },
      { command: 'gateway login https://gateway.example --sso', note: 'As a person, by browser' },
    ],
    args: [{ name: 'url', description: 'Address of the gateway (default: from the context)' }],
    flags: [
      { name: 'sso', type: 'boolean', description: 'Sign in at the identity provider' },
      { name: 'no-browser', type: 'boolean', description: 'With --sso: only print the address' },
      {
        name: 'organization',
        type: 'string',
        value: 'NAME',
        description: 'With --sso: where to act (default: the first that is mapped)',
      },
    ],
    endless: true,
    load: () => import('../commands/connection/login.ts'),
  },
  {
    name: 'logout',
    summary: 'Remove the stored key of a context',
    description:
      'A key that `gateway login --sso` got is revoked, too. Any other stays valid; `gateway keys revoke` revokes it.',
    examples: [
      { command: 'gateway logout', note: 'Of the current context' },
      { command: 'gateway logout --context prod', note: 'Of another context' },
    ],
    load: () => import('../commands/connection/logout.ts'),
  },
  {
    name: 'whoami',
    summary: 'Show server, organization and key in use',
    examples: [{ command: 'gateway whoami', note: 'Check before a change' }],
    load: () => import('../commands/connection/whoami.ts'),
  },
  {
    name: 'console',
    summary: 'Open the console in the browser, signed in',
    description:
      'Opens a link that signs in once, within 30 seconds, with the key in use, which needs the scope admin. Without a browser the link is printed.',
    examples: [
      { command: 'gateway console', note: 'Open the browser' },
      { command: 'gateway console --no-open', note: 'Print the link' },
    ],
    flags: [{ name: 'no-open', type: 'boolean', description: 'Print the link alone' }],
    load: () => import('../commands/connection/console.ts'),
  },
  {
    name: 'config',
    summary: 'Choose a context, or show effective settings',
    examples: [
      { command: 'gateway config view --show-origin', note: 'Effective settings and their origin' },
    ],
  },
  {
    name: 'config get-contexts',
    lists: true,
    summary: 'List the contexts that logins stored',
    examples: [
      { command: 'gateway config get-contexts', note: 'The current one is marked with a star' },
    ],
    load: () => import('../commands/connection/config-get-contexts.ts'),
  },
  {
    name: 'config use-context',
    summary: 'Choose the context that commands use',
    examples: [
      { command: 'gateway config use-context prod', note: 'Use its server and key' },
      {
        command: 'gateway config use-context local',
        note: 'The gateway of the nearest .gateway directory',
      },
    ],
    args: [NAME],
    load: () => import('../commands/connection/config-use-context.ts'),
  },
  {
    name: 'config current-context',
    summary: 'Print the name of the context in use',
    examples: [{ command: 'gateway config current-context', note: 'local without a login' }],
    load: () => import('../commands/connection/config-current-context.ts'),
  },
  {
    name: 'config delete-context',
    summary: 'Delete a context and its key',
    examples: [{ command: 'gateway config delete-context old', note: 'Server and key' }],
    args: [NAME],
    load: () => import('../commands/connection/config-delete-context.ts'),
  },
  {
    name: 'config view',
    summary: 'Show the settings in use',
    description:
      'Flags take precedence over GATEWAY_* variables, then .gatewayrc.yaml of the project, config.yaml of the user ($XDG_CONFIG_HOME/gateway) and of the system (/etc/xdg/gateway). Files set server, context, output, timeout, no_color, quiet and debug. Keys are masked.',
    examples: [
      { command: 'gateway config view', note: 'Effective values' },
      { command: 'gateway config view --show-origin', note: 'With the origin of each' },
    ],
    flags: [
      { name: 'show-origin', type: 'boolean', description: 'Show where each value comes from' },
    ],
    load: () => import('../commands/connection/config-view.ts'),
  },
  {
    name: 'selftest',
    summary: 'Check a running gateway against the requirements',
    description:
      'Calls the gateway as clients do and prints pass, fail or skip for each requirement; exits 1 when one fails. Leaves nothing behind and sends a few short prompts to a model.',
    examples: [
      {
        command: 'gateway selftest --against https://gateway.example',
        note: 'With the key in use',
      },
      { command: 'gateway selftest --model mock/echo -o json', note: 'As one JSON document' },
    ],
    flags: [
      {
        name: 'against',
        type: 'string',
        value: 'URL',
        description: 'Address of the gateway (default: the one in use)',
      },
      {
        name: 'model',
        type: 'string',
        value: 'NAME',
        description: 'Model to ask (default: one called echo, else the first language model)',
      },
    ],
    load: () => import('../commands/local/selftest.ts'),
  },
] as const;
