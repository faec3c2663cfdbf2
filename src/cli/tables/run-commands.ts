import type { CommandSpec } from '../command.ts';
import { IGNORE_NOT_FOUND, LIMIT } from './shared-words.ts';

/** Commands on runs of models and APIs, their webhooks, and what they cost. */
export const RUN_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    summary: 'Run a model of any type, or an API',
    description:
      'The input is what the endpoint of the model takes, but for the model; `gateway models get` shows its schema. Without --async the gateway waits for the end, no longer than --timeout and its own limit; with --wait the command goes on asking. A run that failed exits 7.',
    examples: [
      {
        command:
          'gateway run mock/echo --input \'{"messages": [{"role": "user", "content": "hi"}]}\'',
        note: 'Print what it made',
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
      { name: 'async', type: 'boolean', description: 'Wait for nothing' },
      { name: 'wait', type: 'boolean', description: 'Ask for the run until it is over' },
      {
        name: 'webhook-url',
        type: 'string',
        value: 'URL',
        description: 'Called when the run is over',
      },
    ],
    load: () => import('../commands/models/run.ts'),
  },
  {
    name: 'wait',
    summary: 'Wait until a run, a Session or another object is as it should be',
    description:
      'Exits 0 when the condition holds, 7 when it can no longer hold, 8 when --timeout passed. Conditions: completed (of a run), exists, deleted, and status=STATUS, which also knows active, disabled, paused, archived and revoked. What is not there exits 1, unless it is to be made or deleted.',
    examples: [
      { command: 'gateway wait drun_01 --timeout 10m', note: 'A run of a Schedule' },
      { command: 'gateway wait sess_01 --for status=idle', note: 'The end of a turn' },
      { command: 'gateway wait service/helper --for exists', note: 'What another job makes' },
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
    summary: 'Look at what calls came to, and what they cost',
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
    summary: 'Look at the webhooks of runs, send them again, sign them anew',
    examples: [{ command: 'gateway webhooks list', note: 'The newest first' }],
  },
  {
    name: 'webhooks secret',
    summary: 'The secret that signs webhooks',
    examples: [{ command: 'gateway webhooks secret rotate', note: 'Print a new one' }],
  },
  {
    name: 'webhooks secret rotate',
    summary: 'Make a new secret and print it, this once',
    description:
      'Webhooks are signed by the former one, too, for a day or until the next rotation: receivers can change over meanwhile.',
    examples: [
      {
        command: 'gateway webhooks secret rotate > webhook.secret',
        note: 'Into a file, and nowhere else',
      },
    ],
    load: () => import('../commands/account/webhooks-secret-rotate.ts'),
  },
  {
    name: 'webhooks list',
    aliases: ['ls'],
    summary: 'List webhooks and how their delivery stands',
    examples: [{ command: 'gateway webhooks list -o json', note: 'With every attempt' }],
    flags: [LIMIT],
    load: () => import('../commands/account/webhooks-list.ts'),
  },
  {
    name: 'webhooks redeliver',
    summary: 'Send a webhook again',
    examples: [{ command: 'gateway webhooks redeliver msg_01', note: 'With the same id' }],
    args: [{ name: 'delivery', required: true, description: 'Id of the webhook' }],
    load: () => import('../commands/account/webhooks-redeliver.ts'),
  },
];
