import type { CommandSpec, FlagSpec } from '../command.ts';

const FILE: FlagSpec = {
  name: 'file',
  short: 'f',
  type: 'string',
  value: 'PATH',
  env: 'GATEWAY_CONFIG',
  repeatable: true,
  description: 'File, directory, or - for stdin (default: gateway.yaml)',
};

const UNKNOWN_FIELDS: FlagSpec = {
  name: 'unknown-fields',
  type: 'string',
  value: 'MODE',
  choices: ['error', 'warn'],
  default: 'error',
  description: 'What an unknown field is',
};

const CHOICE: readonly FlagSpec[] = [
  {
    name: 'prune',
    type: 'boolean',
    description: 'Remove what these files once made and no longer declare',
  },
  { name: 'adopt', type: 'boolean', description: 'Take over declared objects that nobody manages' },
  {
    name: 'write-secret',
    type: 'string',
    value: 'KIND/NAME#FIELD',
    repeatable: true,
    description: 'Write this secret again although nothing readable differs',
  },
];

const EXIT_CODE: FlagSpec = {
  name: 'exit-code',
  type: 'boolean',
  description: 'Exit 2 when there are changes',
};

/** Commands that work on this machine: run something, or look at gateway.yaml. */
export const LOCAL_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'init',
    summary: 'Write a first gateway.yaml',
    description:
      'Writes gateway.yaml with a JSON Schema modeline, a README, a test and a CI example. Existing files stay as they are unless --force is given.',
    examples: [
      { command: 'gateway init', note: 'A gateway that works offline, in this directory' },
      {
        command: 'gateway init --template env gateway',
        note: 'Models of the vendors whose keys are set',
      },
      {
        command: 'gateway init --template agent-service desk',
        note: 'An Agent with a tool, published as a Service',
      },
    ],
    args: [{ name: 'dir', description: 'Directory to write to (default: this one)' }],
    flags: [
      {
        name: 'template',
        short: 't',
        type: 'string',
        value: 'NAME',
        choices: ['local', 'env', 'agent-service', 'acp-agent', 'scheduled-report'],
        default: 'local',
        description:
          'local: a mock provider; env: vendors whose API keys are in the environment; agent-service: an Agent with a tool, published; acp-agent: a program as an Agent; scheduled-report: an Agent on a Schedule',
      },
      { name: 'force', type: 'boolean', description: 'Overwrite existing files' },
    ],
    load: () => import('../commands/init.ts'),
  },
  {
    name: 'start',
    aliases: ['serve'],
    summary: 'Run the gateway',
    description:
      'Loads the configuration, listens and answers requests until it is stopped. SIGTERM drains, SIGHUP loads the files again.',
    examples: [
      { command: 'gateway start', note: 'With gateway.yaml of this directory' },
      { command: 'gateway start -c prod.yaml --port 0', note: 'On a free port, which is printed' },
      { command: 'gateway start --check', note: 'Check the files and exit 0 or 3' },
    ],
    flags: [
      {
        name: 'config',
        short: 'c',
        type: 'string',
        value: 'PATH',
        env: 'GATEWAY_CONFIG',
        repeatable: true,
        description: 'File or directory to load (default: gateway.yaml)',
      },
      {
        name: 'host',
        type: 'string',
        value: 'HOST',
        env: 'GATEWAY_HOST',
        description: 'Address to listen on',
      },
      {
        name: 'port',
        short: 'p',
        type: 'integer',
        value: 'PORT',
        max: 65_535,
        env: 'GATEWAY_PORT',
        description: 'Port to listen on; 0 picks a free one',
      },
      {
        name: 'workers',
        type: 'integer',
        value: 'N',
        min: 1,
        max: 256,
        env: 'GATEWAY_WORKERS',
        description: 'Processes that share the port',
      },
      {
        name: 'watch',
        type: 'boolean',
        env: 'GATEWAY_WATCH',
        description: 'Load the files again when they change',
      },
      { name: 'check', type: 'boolean', description: 'Only check the files; opens no port' },
    ],
    ownsSignals: true,
    load: () => import('../commands/start.ts'),
  },
  {
    name: 'mock',
    summary: 'Run a mock provider',
    description:
      'Serves the built-in mock provider: deterministic answers in every protocol, without network and key; a cassette scripts answers, delays and faults.',
    examples: [
      { command: 'gateway mock --port 9090', note: 'Echoes what it is asked' },
      { command: 'gateway mock --cassette outage.yaml', note: 'Plays scripted answers and faults' },
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
    ],
    ownsSignals: true,
    load: () => import('../commands/mock.ts'),
  },
  {
    name: 'doctor',
    summary: 'Say what is wrong here',
    description:
      'Checks Node.js, the configuration, key files, the store directory, the port, the running gateway and the reachability of providers. Exits 1 when something is wrong.',
    examples: [{ command: 'gateway doctor', note: 'When something does not work' }],
    flags: [
      {
        name: 'config',
        short: 'c',
        type: 'string',
        value: 'PATH',
        env: 'GATEWAY_CONFIG',
        repeatable: true,
        description: 'File or directory to check (default: gateway.yaml)',
      },
      { name: 'offline', type: 'boolean', description: 'Do not contact providers' },
    ],
    load: () => import('../commands/doctor.ts'),
  },
  {
    name: 'validate',
    summary: 'Check configuration files',
    description:
      'Checks schema, references and identities without network. Every problem is told at once, with file, line and column; exits 3 when there is one.',
    examples: [
      { command: 'gateway validate', note: 'Check gateway.yaml' },
      { command: 'gateway validate -f config/ -o github', note: 'Annotations of a pull request' },
    ],
    flags: [FILE, UNKNOWN_FIELDS],
    formats: ['github'],
    load: () => import('../commands/validate.ts'),
  },
  {
    name: 'plan',
    summary: 'Show what apply would change',
    description: 'Compares the files with the gateway and shows every change. Reads only.',
    examples: [
      { command: 'gateway plan', note: 'What would change' },
      { command: 'gateway plan --exit-code', note: 'Exit 2 when something would change' },
    ],
    flags: [FILE, UNKNOWN_FIELDS, ...CHOICE, EXIT_CODE],
    load: () => import('../commands/plan.ts'),
  },
  {
    name: 'diff',
    summary: 'Show what apply would change, changes alone',
    description:
      'The changes of `gateway plan`, without the objects that stay as they are. Reads only.',
    examples: [
      { command: 'gateway diff --exit-code', note: 'For a pipeline: 0 the same, 2 changes' },
    ],
    flags: [FILE, UNKNOWN_FIELDS, ...CHOICE, EXIT_CODE],
    load: () => import('../commands/diff.ts'),
  },
  {
    name: 'apply',
    summary: 'Make the gateway what the files say',
    description:
      'Creates what is missing and changes what differs, in the order of references. Deletes nothing without --prune. A second apply changes nothing.',
    examples: [
      { command: 'gateway apply', note: 'Show the changes, ask, apply' },
      { command: 'gateway apply -f config/ --yes', note: 'In a pipeline' },
    ],
    flags: [
      FILE,
      UNKNOWN_FIELDS,
      ...CHOICE,
      {
        name: 'confirm-prune',
        type: 'integer',
        value: 'N',
        description: 'How many objects --prune removes, when it is all of a kind or more than 10',
      },
      { name: 'dry-run', type: 'boolean', description: 'Show the changes and stop' },
    ],
    load: () => import('../commands/apply.ts'),
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of gateway.yaml',
    examples: [
      { command: 'gateway schema > gateway.schema.json', note: 'For editors and other tools' },
    ],
    load: () => import('../commands/schema.ts'),
  },
];
