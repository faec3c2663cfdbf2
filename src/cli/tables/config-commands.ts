import { ALL_OBJECTS, CHOICE, EXIT_CODE, LOCK_TIMEOUT, PROJECT, SELECT } from './config-words.ts';
import { ALLOW_EXEC } from './shared-words.ts';

/** Commands that compare gateway.yaml with a gateway, and make them one. */
export const CONFIG_COMMANDS = [
  {
    name: 'validate',
    summary: 'Check configuration files',
    description:
      'Checks schema, references and identities offline. Reports every problem at once, with file, line and column; exits 3 when there is one.',
    examples: [
      { command: 'gateway validate', note: 'Check gateway.yaml' },
      { command: 'gateway validate -f config/ -o github', note: 'Annotations of a pull request' },
      {
        command: 'gateway validate --online',
        note: 'Also check against the gateway; writes nothing',
      },
    ],
    flags: [
      ...PROJECT,
      {
        name: 'online',
        type: 'boolean',
        description: 'Also check against the gateway: references exist, names and slugs are free',
      },
    ],
    formats: ['github'],
    load: () => import('../commands/config/validate.ts'),
  },
  {
    name: 'plan',
    summary: 'Show what apply would change',
    description:
      'Compares the files with the gateway and shows every change, with the number of unchanged objects. Read-only.',
    examples: [
      { command: 'gateway plan', note: 'Show the changes' },
      { command: 'gateway plan --all', note: 'Unchanged objects, too' },
      { command: 'gateway plan --exit-code', note: 'Exit 2 when something would change' },
      { command: 'gateway plan --out plan.json', note: 'Save it for review and apply' },
      { command: 'gateway plan -o markdown', note: 'For a pull request comment' },
    ],
    flags: [
      ...PROJECT,
      ALLOW_EXEC,
      ...SELECT,
      ...CHOICE,
      {
        name: 'out',
        type: 'string',
        value: 'PLAN',
        description: 'Write the plan to this file, for `gateway apply --plan`',
      },
      ALL_OBJECTS,
      EXIT_CODE,
    ],
    formats: ['markdown'],
    load: () => import('../commands/config/plan.ts'),
  },
  {
    name: 'plan show',
    summary: 'Show a saved plan',
    examples: [{ command: 'gateway plan show plan.json', note: 'Show its changes' }],
    args: [{ name: 'file', required: true, description: 'File that `gateway plan --out` wrote' }],
    flags: [ALL_OBJECTS, EXIT_CODE],
    formats: ['markdown'],
    load: () => import('../commands/config/plan-show.ts'),
  },
  {
    name: 'diff',
    summary: 'Show only the changes of a plan',
    description: 'The changes of `gateway plan`, without unchanged objects. Read-only.',
    examples: [
      {
        command: 'gateway diff --exit-code',
        note: 'In a pipeline: exit 0 without changes, 2 with changes',
      },
    ],
    flags: [...PROJECT, ALLOW_EXEC, ...SELECT, ...CHOICE, EXIT_CODE],
    formats: ['markdown'],
    load: () => import('../commands/config/diff.ts'),
  },
  {
    name: 'apply',
    summary: 'Apply the files to the gateway',
    description:
      'Creates missing objects and updates those that differ, in the order of references. Deletes nothing without --prune. A second apply changes nothing.',
    examples: [
      { command: 'gateway apply', note: 'Show the changes, ask, apply' },
      { command: 'gateway apply -f config/ --yes', note: 'In a pipeline' },
      { command: 'gateway apply --only model/acme/*', note: 'Only some objects' },
      { command: 'gateway apply --plan plan.json', note: 'Exactly what was reviewed, or nothing' },
    ],
    flags: [
      ...PROJECT,
      ALLOW_EXEC,
      ...SELECT,
      ...CHOICE,
      {
        name: 'confirm-prune',
        type: 'integer',
        value: 'N',
        description:
          'Number of objects to remove; required for all of a kind, for more than 10, or for a key, Schedule or Service',
      },
      {
        name: 'plan',
        type: 'string',
        value: 'PLAN',
        description:
          'Apply a plan saved by `gateway plan --out`; refused if anything has changed since',
      },
      {
        name: 'allow-replace',
        type: 'boolean',
        description: 'Delete and recreate objects that cannot be updated; they get a new id',
      },
      {
        name: 'parallelism',
        type: 'integer',
        value: 'N',
        min: 1,
        max: 64,
        default: 16,
        description: 'Number of concurrent writes',
      },
      LOCK_TIMEOUT,
      {
        name: 'wait',
        type: 'boolean',
        description: 'Wait until the applied models and Services are served; exit 8 on --timeout',
      },
      { name: 'dry-run', type: 'boolean', description: 'Show the changes and exit' },
    ],
    load: () => import('../commands/config/apply.ts'),
  },
  {
    name: 'delete',
    summary: 'Remove the objects that the files declare',
    description:
      'Removes the declared objects that the namespace of the files manages, dependents first: Agents and Schedules are archived, keys revoked, Credentials disabled, everything else is deleted. Refused as a whole (exit 5) if one of them is protected. Objects that no longer exist are listed and are not a failure.',
    examples: [
      { command: 'gateway delete -f preview.yaml --yes', note: 'Tear down an environment' },
      { command: 'gateway delete -f preview.yaml --dry-run', note: 'Preview the removals' },
    ],
    flags: [
      ...PROJECT,
      ...SELECT,
      { name: 'dry-run', type: 'boolean', description: 'Show the removals and exit' },
      {
        name: 'ignore-not-found',
        type: 'boolean',
        description: 'Accepted for scripts; a missing object is never a failure here',
      },
    ],
    load: () => import('../commands/config/delete.ts'),
  },
  {
    name: 'drift',
    summary: 'Show changes made on the gateway since the last apply',
    description:
      'Lists declared objects that were changed or deleted on the gateway, and objects created by hand in a managed collection. Changes of the files that are not applied yet are listed separately. Read-only.',
    examples: [
      { command: 'gateway drift', note: 'Changes made outside the files' },
      {
        command: 'gateway drift --exit-code',
        note: 'Exit 2 when there is drift, for a nightly job',
      },
    ],
    flags: [...PROJECT, ALLOW_EXEC, ...SELECT, EXIT_CODE],
    load: () => import('../commands/config/drift.ts'),
  },
  {
    name: 'dump',
    aliases: ['export'],
    summary: 'Export the gateway as configuration',
    description:
      'Prints YAML that changes nothing when applied here and recreates the same objects on an empty gateway: names instead of ids, references instead of secrets, Skills with their files. Revoked keys, archived Agents and Schedules, Sessions, uploads and older versions are left out.',
    examples: [
      { command: 'gateway dump > gateway.yaml', note: 'Start from an existing gateway' },
      { command: 'gateway dump --split config/', note: 'One file per section' },
      { command: 'gateway dump -A --split all/', note: 'One directory per namespace' },
      { command: 'gateway dump --kind model,provider', note: 'Only these kinds' },
    ],
    flags: [
      {
        name: 'split',
        type: 'string',
        value: 'DIR',
        description: 'Write one file per section into this directory, with the files of Skills',
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
        description: 'Only objects that this namespace manages',
      },
      {
        name: 'all-namespaces',
        short: 'A',
        type: 'boolean',
        excludes: ['namespace'],
        description:
          'Objects of every namespace, each in a directory of its own below --split; without unmanaged objects',
      },
      { name: 'skip-defaults', type: 'boolean', description: 'Omit fields at their default' },
      { name: 'force', type: 'boolean', description: 'Overwrite existing files' },
    ],
    load: () => import('../commands/config/dump.ts'),
  },
  {
    name: 'adopt',
    summary: 'Adopt unmanaged objects into the namespace of the files',
    description:
      'Marks declared objects that were created by hand as managed by these files; their fields do not change until the next apply. Refused as a whole (exit 5) if another namespace manages one of them, or if several objects have one of the names.',
    examples: [
      { command: 'gateway adopt', note: 'All declared objects' },
      { command: 'gateway adopt model/acme/fast', note: 'One object' },
    ],
    args: [{ name: 'object', variadic: true, description: 'KIND/NAME; default: all declared' }],
    flags: [...PROJECT],
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
    summary: "Print the JSON Schema of a command's JSON output",
    description:
      'For the document of one command, for a line of a stream, or for all of them by the name in `schema`.',
    examples: [
      { command: 'gateway schema output keys list', note: 'One command' },
      {
        command: 'gateway schema output stream',
        note: 'One line of tail, chat or invoke --follow',
      },
      { command: 'gateway schema output', note: 'All of them' },
    ],
    args: [{ name: 'command', variadic: true, description: 'Words of a command, or stream' }],
    load: () => import('../commands/config/schema-output.ts'),
  },
  {
    name: 'explain',
    summary: 'Explain a field of gateway.yaml',
    description: 'Prints purpose, type, default and update rule of a field.',
    examples: [
      { command: 'gateway explain model.routes', note: 'A field of a kind' },
      { command: 'gateway explain server.listen', note: 'A setting of the server' },
    ],
    args: [{ name: 'path', required: true, description: 'KIND, KIND.field or server.setting' }],
    load: () => import('../commands/config/explain.ts'),
  },
] as const;
