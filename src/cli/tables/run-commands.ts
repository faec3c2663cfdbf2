import { IGNORE_NOT_FOUND, LIMIT } from './shared-words.ts';

/** Commands on runs of models and APIs, their webhooks, and their cost. */
export const RUN_COMMANDS = [
  {
    name: 'run',
    summary: 'Run a model of any type, or an API',
    description:
      "The input is the request body of the model's endpoint without `model`; `gateway models get` shows its schema. Without --async the gateway waits for the result, at most --timeout and its own limit; with --wait the command polls until then. A failed run exits 7.",
    examples: [
      {
        command:
          'gateway run mock/echo --input \'{"messages": [{"role": "user", "content": "hi"}]}\'',
        note: 'Print its output',
      },
      {
        command: 'gateway run acme/film --input @film.json --wait --timeout 10m',
        note: 'Wait for a video',
      },
    ],
    args: [{ name: 'model', required: true, description: 'Name of the model or API' }],
    flags: [
      {
        name: 'input',
        short: 'i',
        type: 'string',
        value: 'JSON',
        description: 'Input: JSON, @FILE, or - for stdin',
      },
      { name: 'async', type: 'boolean', description: 'Do not wait' },
      {
        name: 'wait',
        type: 'boolean',
        excludes: ['async'],
        description: 'Poll until the run is over',
      },
      {
        name: 'webhook-url',
        type: 'string',
        value: 'URL',
        description: 'URL to call when the run is over',
      },
    ],
    load: () => import('../commands/models/run.ts'),
  },
  {
    name: 'wait',
    summary: 'Wait until a run, a Session or another object meets a condition',
    description:
      'Exits 0 when the condition is met, 7 when it can no longer be met or a person has to answer first, 8 on --timeout. Conditions: completed (of a run or Session; that of a run of a Schedule is its Session), exists, deleted, and status=STATUS, including active, disabled, paused, archived and revoked. A missing object exits 1, unless the condition is exists or deleted.',
    examples: [
      { command: 'gateway wait drun_01 --timeout 10m', note: 'A run of a Schedule' },
      { command: 'gateway wait sess_01 --for status=idle', note: 'The end of a turn' },
      {
        command: 'gateway wait service/helper --for exists',
        note: 'An object that another job creates',
      },
    ],
    args: [{ name: 'target', required: true, description: 'Id of a run or Session, or KIND/NAME' }],
    flags: [
      {
        name: 'for',
        type: 'string',
        value: 'CONDITION',
        default: 'completed',
        description: 'completed, exists, deleted or status=STATUS',
      },
    ],
    load: () => import('../commands/config/wait.ts'),
  },
  {
    name: 'tasks',
    summary: 'Show call results and costs',
    examples: [{ command: 'gateway tasks get run_01', note: 'A run' }],
  },
  {
    name: 'tasks get',
    summary: 'Show status, settlement and cost of a run, a video task or a call',
    examples: [{ command: 'gateway tasks get req_01', note: 'A call, by its request id' }],
    args: [{ name: 'task', required: true, description: 'Id of the run, video or request' }],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/models/tasks-get.ts'),
  },
  {
    name: 'webhooks',
    summary: 'List and resend the webhooks of runs, rotate their secret',
    examples: [{ command: 'gateway webhooks list', note: 'The newest first' }],
  },
  {
    name: 'webhooks secret',
    summary: 'Manage the secret that signs webhooks',
    examples: [{ command: 'gateway webhooks secret rotate', note: 'Create and print a new one' }],
  },
  {
    name: 'webhooks secret rotate',
    summary: 'Rotate the secret and print it once',
    description:
      'Webhooks are also signed with the former secret for a day or until the next rotation, so that receivers can switch.',
    examples: [
      {
        command: 'gateway webhooks secret rotate > webhook.secret',
        note: 'Write it to a file',
      },
    ],
    load: () => import('../commands/account/webhooks-secret-rotate.ts'),
  },
  {
    name: 'webhooks list',
    aliases: ['ls'],
    summary: 'List webhooks and their delivery status',
    examples: [{ command: 'gateway webhooks list -o json', note: 'With every attempt' }],
    flags: [LIMIT],
    load: () => import('../commands/account/webhooks-list.ts'),
  },
  {
    name: 'webhooks redeliver',
    summary: 'Resend a webhook',
    examples: [{ command: 'gateway webhooks redeliver msg_01', note: 'With the same id' }],
    args: [{ name: 'delivery', required: true, description: 'Id of the webhook' }],
    load: () => import('../commands/account/webhooks-redeliver.ts'),
  },
] as const;
