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

const RECURSIVE: FlagSpec = {
  name: 'recursive',
  short: 'R',
  type: 'boolean',
  description: 'Read directories below directories, too',
};

const OVERLAY: FlagSpec = {
  name: 'overlay',
  type: 'string',
  value: 'PATH',
  env: 'GATEWAY_OVERLAY',
  repeatable: true,
  description: 'File or directory laid over the files: merged by kind and name, null removes',
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

const SELECT: readonly FlagSpec[] = [
  {
    name: 'only',
    type: 'string',
    value: 'KIND/NAME',
    repeatable: true,
    description: 'Only these objects; * stands for any text, KIND alone for all of a kind',
  },
  {
    name: 'exclude',
    type: 'string',
    value: 'KIND/NAME',
    repeatable: true,
    description: 'All but these objects',
  },
  {
    name: 'selector',
    short: 'l',
    type: 'string',
    value: 'LABEL=VALUE',
    repeatable: true,
    description: 'Only objects with this label; given again: with each of them',
  },
];

const EXIT_CODE: FlagSpec = {
  name: 'exit-code',
  type: 'boolean',
  description: 'Exit 2 when there are changes',
};

const LOCK_TIMEOUT: FlagSpec = {
  name: 'lock-timeout',
  type: 'duration',
  value: 'DURATION',
  description:
    'How long to wait and plan again when somebody else applies at the same time (default 0)',
};

/** Commands that compare gateway.yaml with a gateway, and make them one. */
export const CONFIG_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'validate',
    summary: 'Check configuration files',
    description:
      'Checks schema, references and identities without network. Every problem is told at once, with file, line and column; exits 3 when there is one.',
    examples: [
      { command: 'gateway validate', note: 'Check gateway.yaml' },
      { command: 'gateway validate -f config/ -o github', note: 'Annotations of a pull request' },
      { command: 'gateway validate --online', note: 'Ask the gateway, too; writes nothing' },
    ],
    flags: [
      FILE,
      RECURSIVE,
      OVERLAY,
      UNKNOWN_FIELDS,
      {
        name: 'online',
        type: 'boolean',
        description:
          'Check against the gateway, too: what is named exists, names and slugs are free',
      },
    ],
    formats: ['github'],
    load: () => import('../commands/config/validate.ts'),
  },
  {
    name: 'plan',
    summary: 'Show what apply would change',
    description: 'Compares the files with the gateway and shows every change. Reads only.',
    examples: [
      { command: 'gateway plan', note: 'What would change' },
      { command: 'gateway plan --exit-code', note: 'Exit 2 when something would change' },
      { command: 'gateway plan --out plan.json', note: 'For a review, and to apply exactly this' },
      { command: 'gateway plan -o markdown', note: 'For a comment of a pull request' },
    ],
    flags: [
      FILE,
      RECURSIVE,
      OVERLAY,
      UNKNOWN_FIELDS,
      ...SELECT,
      ...CHOICE,
      {
        name: 'out',
        type: 'string',
        value: 'PLAN',
        description: 'Write the plan to this file, for `gateway apply --plan`',
      },
      EXIT_CODE,
    ],
    formats: ['markdown'],
    load: () => import('../commands/config/plan.ts'),
  },
  {
    name: 'plan show',
    summary: 'Show a saved plan',
    examples: [{ command: 'gateway plan show plan.json', note: 'What it would change' }],
    args: [{ name: 'file', required: true, description: 'File that `gateway plan --out` wrote' }],
    flags: [EXIT_CODE],
    formats: ['markdown'],
    load: () => import('../commands/config/plan-show.ts'),
  },
  {
    name: 'diff',
    summary: 'Show what apply would change, changes alone',
    description:
      'The changes of `gateway plan`, without the objects that stay as they are. Reads only.',
    examples: [
      { command: 'gateway diff --exit-code', note: 'For a pipeline: 0 the same, 2 changes' },
    ],
    flags: [FILE, RECURSIVE, OVERLAY, UNKNOWN_FIELDS, ...SELECT, ...CHOICE, EXIT_CODE],
    formats: ['markdown'],
    load: () => import('../commands/config/diff.ts'),
  },
  {
    name: 'apply',
    summary: 'Make the gateway what the files say',
    description:
      'Creates what is missing and changes what differs, in the order of references. Deletes nothing without --prune. A second apply changes nothing.',
    examples: [
      { command: 'gateway apply', note: 'Show the changes, ask, apply' },
      { command: 'gateway apply -f config/ --yes', note: 'In a pipeline' },
      { command: 'gateway apply --only model/acme/*', note: 'Some objects alone' },
      { command: 'gateway apply --plan plan.json', note: 'Exactly what was reviewed, or nothing' },
    ],
    flags: [
      FILE,
      RECURSIVE,
      OVERLAY,
      UNKNOWN_FIELDS,
      ...SELECT,
      ...CHOICE,
      {
        name: 'confirm-prune',
        type: 'integer',
        value: 'N',
        description:
          'How many objects go: asked for when it is all of a kind, more than 10, or a key, Schedule or Service',
      },
      {
        name: 'plan',
        type: 'string',
        value: 'PLAN',
        description: 'Apply this plan of `gateway plan --out`; refused when anything changed since',
      },
      {
        name: 'allow-replace',
        type: 'boolean',
        description: 'Delete and make anew what no update can change; it gets another id',
      },
      {
        name: 'parallelism',
        type: 'integer',
        value: 'N',
        min: 1,
        max: 64,
        default: 16,
        description: 'How many objects are written at once',
      },
      LOCK_TIMEOUT,
      {
        name: 'wait',
        type: 'boolean',
        description:
          'Until the models and Services that were applied are served; exit 8 on --timeout',
      },
      { name: 'dry-run', type: 'boolean', description: 'Show the changes and stop' },
    ],
    load: () => import('../commands/config/apply.ts'),
  },
  {
    name: 'delete',
    summary: 'Remove what the files declare',
    description:
      'Removes the declared objects that the namespace of the files manages, dependents first: Agents and Schedules are archived, keys revoked, credentials disabled, everything else is deleted. Refused as a whole (exit 5) when the files or the gateway protect one of them; what is gone already is said to be, and is no failure.',
    examples: [
      { command: 'gateway delete -f preview.yaml --yes', note: 'Tear down an environment' },
      { command: 'gateway delete -f preview.yaml --dry-run', note: 'See what would go' },
    ],
    flags: [
      FILE,
      RECURSIVE,
      OVERLAY,
      UNKNOWN_FIELDS,
      ...SELECT,
      { name: 'dry-run', type: 'boolean', description: 'Show what would go and stop' },
      {
        name: 'ignore-not-found',
        type: 'boolean',
        description: 'Accepted for scripts; what is gone already is never a failure here',
      },
    ],
    load: () => import('../commands/config/delete.ts'),
  },
  {
    name: 'drift',
    summary: 'Show what was changed on the gateway since the last apply',
    description:
      'Lists declared objects that somebody changed or deleted on the gateway, and what was made by hand in a collection that the files manage, apart from changes of the files that wait for an apply. Reads only.',
    examples: [
      { command: 'gateway drift', note: 'Who changed what behind the files' },
      {
        command: 'gateway drift --exit-code',
        note: 'Exit 2 when there is drift, for a nightly job',
      },
    ],
    flags: [FILE, RECURSIVE, OVERLAY, UNKNOWN_FIELDS, ...SELECT, EXIT_CODE],
    load: () => import('../commands/config/drift.ts'),
  },
  {
    name: 'dump',
    aliases: ['export'],
    summary: 'Write the gateway as configuration',
    description:
      'Prints what there is as YAML that changes nothing when it is applied, and that makes the same on an empty gateway: names for ids, references for secrets, Skills with their files. What has ended (revoked keys, archived Agents and Schedules) and what is no configuration (Sessions, uploads, older versions) is left out.',
    examples: [
      { command: 'gateway dump > gateway.yaml', note: 'Begin with what there is' },
      { command: 'gateway dump --split config/', note: 'One file for each section' },
      { command: 'gateway dump -A --split all/', note: 'A directory for each namespace' },
      { command: 'gateway dump --kind model,provider', note: 'Only these kinds' },
    ],
    flags: [
      {
        name: 'split',
        type: 'string',
        value: 'DIR',
        description:
          'Write one file for each section into this directory, texts of Skills beside them',
      },
      {
        name: 'kind',
        type: 'string',
        value: 'KIND',
        repeatable: true,
        description: 'Only objects of this kind',
      },
      {
        name: 'namespace',
        type: 'string',
        value: 'NAME',
        description: 'Only what this namespace manages',
      },
      {
        name: 'all-namespaces',
        short: 'A',
        type: 'boolean',
        description:
          'What every namespace manages, each in a directory of its own below --split; without what nobody manages',
      },
      { name: 'skip-defaults', type: 'boolean', description: 'Leave out what is at its default' },
      { name: 'force', type: 'boolean', description: 'Overwrite existing files' },
    ],
    load: () => import('../commands/config/dump.ts'),
  },
  {
    name: 'adopt',
    summary: 'Take objects that nobody manages into the namespace of the files',
    description:
      'Labels declared objects that were made by hand as managed by these files; their fields stay as they are until the next apply. Refused as a whole when another namespace manages one of them.',
    examples: [
      { command: 'gateway adopt', note: 'Everything that is declared' },
      { command: 'gateway adopt model/acme/fast', note: 'One object' },
    ],
    args: [{ name: 'object', variadic: true, description: 'KIND/NAME; default: all declared' }],
    flags: [FILE, RECURSIVE, OVERLAY, UNKNOWN_FIELDS],
    load: () => import('../commands/config/adopt.ts'),
  },
  {
    name: 'transfer',
    summary: 'Give objects to another namespace, or rename one',
    description:
      'Moves the ownership of objects, and what is known of them, from one namespace to another: nothing is removed or made anew, and ids, keys and Sessions stay. Declare them in files of the new namespace then; files of the old one neither change nor remove them any more. Refused as a whole (exit 5) when no namespace owns one of them, or when an apply has not come to its end with it. Stopped in the middle, the same command moves the rest.',
    examples: [
      { command: 'gateway transfer model/acme/fast --to platform', note: 'One object' },
      { command: "gateway transfer 'model/acme/*' --from shop --to platform", note: 'Several' },
      { command: 'gateway transfer --all --from shop --to store', note: 'Rename a namespace' },
      {
        command: 'gateway transfer --all --from shop --to store --dry-run',
        note: 'See what moves',
      },
    ],
    args: [
      {
        name: 'object',
        variadic: true,
        description: 'KIND/NAME; with --from also with *, or KIND alone',
      },
    ],
    flags: [
      { name: 'to', type: 'string', value: 'NAMESPACE', description: 'Namespace that gets them' },
      {
        name: 'from',
        type: 'string',
        value: 'NAMESPACE',
        description: 'Namespace that has them (default: whichever)',
      },
      { name: 'all', type: 'boolean', description: 'Everything of --from' },
      LOCK_TIMEOUT,
      { name: 'dry-run', type: 'boolean', description: 'Show what would move and stop' },
    ],
    load: () => import('../commands/transfer.ts'),
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of gateway.yaml',
    examples: [
      { command: 'gateway schema > gateway.schema.json', note: 'For editors and other tools' },
    ],
    load: () => import('../commands/config/schema.ts'),
  },
  {
    name: 'schema output',
    summary: 'Print the JSON Schema of what a command prints with -o json',
    description:
      'Of the one document of a command, of a line of those that stream, or of all of them by the name that stands in `schema`.',
    examples: [
      { command: 'gateway schema output keys list', note: 'One command' },
      { command: 'gateway schema output stream', note: 'A line of tail, chat or invoke --follow' },
      { command: 'gateway schema output', note: 'All of them' },
    ],
    args: [{ name: 'command', variadic: true, description: 'Words of a command, or stream' }],
    load: () => import('../commands/config/schema-output.ts'),
  },
  {
    name: 'explain',
    summary: 'Explain a key of gateway.yaml',
    description: 'Prints what a key is for, its type, its default and what an update does with it.',
    examples: [
      { command: 'gateway explain model.routes', note: 'A field of a kind' },
      { command: 'gateway explain server.listen', note: 'A setting of the server' },
    ],
    args: [{ name: 'path', required: true, description: 'KIND, KIND.field or server.setting' }],
    load: () => import('../commands/config/explain.ts'),
  },
];
