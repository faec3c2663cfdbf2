import type { FlagSpec } from '../command.ts';
import { ALLOW_EXEC, CONFIG } from './shared-words.ts';

const HOST = {
  name: 'host',
  type: 'string',
  value: 'HOST',
  env: 'GATEWAY_HOST',
  description: 'Address to listen on',
} as const satisfies FlagSpec;

const PORT = {
  name: 'port',
  short: 'p',
  type: 'integer',
  value: 'PORT',
  max: 65_535,
  env: 'GATEWAY_PORT',
  description: 'Port to listen on; 0 picks a free one',
} as const satisfies FlagSpec;

/** Commands that work on this machine: run something, or look at gateway.yaml. */
export const LOCAL_COMMANDS = [
  {
    name: 'init',
    summary: 'Write a first gateway.yaml',
    description:
      'Writes gateway.yaml with a JSON Schema modeline, a README, a test and a CI example. Existing files stay as they are unless --force is given.',
    examples: [
      { command: 'gateway init', note: 'A gateway that works offline, in this directory' },
      {
        command: 'gateway init --template env gateway',
        note: 'Models of vendors whose keys are set',
      },
      {
        command: 'gateway init --template agent-service desk',
        note: 'An Agent with a tool, published as a Service',
      },
      { command: 'gateway init --template plugin report', note: 'Your own command' },
    ],
    args: [{ name: 'dir', description: 'Directory to write to (default: the current one)' }],
    flags: [
      {
        name: 'template',
        short: 't',
        type: 'string',
        value: 'NAME',
        choices: [
          'local',
          'env',
          'agent-service',
          'acp-agent',
          'scheduled-report',
          'gitops',
          'plugin',
        ],
        default: 'local',
        description:
          'local: a mock provider; env: vendors whose API keys are in the environment or in .env; agent-service: an Agent with a tool, published; acp-agent: a program as an Agent; scheduled-report: an Agent on a Schedule; gitops: a repository that CI plans and applies; plugin: a package that adds a command',
      },
      { name: 'force', type: 'boolean', description: 'Overwrite existing files' },
    ],
    load: () => import('../commands/local/init.ts'),
  },
  {
    name: 'start',
    aliases: ['serve'],
    summary: 'Run the gateway',
    description:
      'Loads the configuration and serves requests until stopped. SIGTERM drains, SIGHUP reloads the files.',
    examples: [
      { command: 'gateway start', note: 'With gateway.yaml in this directory' },
      { command: 'gateway start -c prod.yaml --port 0', note: 'On a free port, which is printed' },
      { command: 'gateway start --check', note: 'Check what a start needs: exit 0, 1 or 3' },
    ],
    flags: [
      CONFIG,
      ALLOW_EXEC,
      HOST,
      PORT,
      {
        name: 'workers',
        type: 'integer',
        value: 'N',
        min: 1,
        max: 256,
        env: 'GATEWAY_WORKERS',
        description: 'Number of processes that share the port',
      },
      {
        name: 'watch',
        type: 'boolean',
        env: 'GATEWAY_WATCH',
        description: 'Reload the files when they change',
      },
      {
        name: 'check',
        type: 'boolean',
        description: 'Check what a start needs and exit; serves nothing',
      },
    ],
    ownsSignals: true,
    load: () => import('../commands/local/start.ts'),
  },
  {
    name: 'dev',
    summary: 'Run the gateway for development, with a line for each request',
    description:
      'Serves like start, and reloads the files when they change. --https serves the same with a certificate of its own beside the plain address; --public opens a tunnel from a public address, after it said what it downloads and was answered yes.',
    examples: [
      { command: 'gateway dev --open', note: 'With the console in the browser' },
      { command: 'gateway dev --host 0.0.0.0 --https --qr', note: 'For a phone in this network' },
      { command: 'gateway dev --public --clipboard', note: 'For callbacks from elsewhere' },
    ],
    flags: [
      CONFIG,
      ALLOW_EXEC,
      HOST,
      PORT,
      { name: 'open', type: 'boolean', description: 'Open the console in the browser' },
      { name: 'https', type: 'boolean', description: 'Serve HTTPS, too' },
      {
        name: 'https-port',
        type: 'integer',
        value: 'PORT',
        max: 65_535,
        default: 8443,
        description: 'Port of --https; 0 picks a free one',
      },
      { name: 'public', type: 'boolean', description: 'Open a tunnel from a public address' },
      { name: 'qr', type: 'boolean', description: 'Show the address as a QR code' },
      { name: 'clipboard', type: 'boolean', description: 'Copy the address' },
    ],
    ownsSignals: true,
    load: () => import('../commands/local/dev.ts'),
  },
  {
    name: 'dev-tunnel',
    summary: 'Hold the tunnel of gateway dev --public open',
    examples: [],
    args: [{ name: 'url', required: true, description: 'Address of the gateway' }],
    hidden: true,
    serves: true,
    load: () => import('../commands/local/dev-tunnel.ts'),
  },
  {
    name: 'mock',
    summary: 'Run a mock provider',
    description:
      'Serves the built-in mock provider: deterministic answers in every protocol, without network or key. A cassette scripts answers, delays and faults.',
    examples: [
      { command: 'gateway mock --port 9090', note: 'Echo every request' },
      { command: 'gateway mock --cassette outage.yaml', note: 'Play scripted answers and faults' },
      { command: 'gateway mock --strict anthropic', note: 'Refuse requests as Anthropic does' },
    ],
    flags: [
      {
        name: 'port',
        short: 'p',
        type: 'integer',
        value: 'PORT',
        max: 65_535,
        default: 8790,
        description: 'Port to listen on; 0 picks a free one',
      },
      {
        name: 'host',
        type: 'string',
        value: 'HOST',
        default: '127.0.0.1',
        description: 'Address to listen on',
      },
      {
        name: 'cassette',
        type: 'string',
        value: 'FILE',
        description: 'YAML or JSON file with scripted replies',
      },
      {
        name: 'strict',
        type: 'string',
        value: 'VENDOR',
        choices: [
          'openai',
          'anthropic',
          'google',
          'mistral',
          'groq',
          'deepseek',
          'moonshot',
          'llamacpp',
        ],
        description: 'Refuse what this vendor refuses, in its words',
      },
    ],
    ownsSignals: true,
    load: () => import('../commands/local/mock.ts'),
  },
  {
    name: 'doctor',
    summary: 'Diagnose the setup',
    description:
      'Checks Node.js, the configuration, key files, the store directory, the port, the running gateway and the reachability of providers. Exits 1 when something is wrong.',
    examples: [{ command: 'gateway doctor', note: 'Find out why something fails' }],
    flags: [
      CONFIG,
      ALLOW_EXEC,
      { name: 'offline', type: 'boolean', description: 'Do not contact providers' },
    ],
    load: () => import('../commands/local/doctor.ts'),
  },
] as const;
