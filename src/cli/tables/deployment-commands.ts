import type { ArgSpec, FlagSpec } from '../command.ts';
import { plainCommand } from './plain-commands.ts';
import { writeCommands } from './write-commands.ts';
import { FROM, IGNORE_NOT_FOUND, LIMIT, RANGE, SINCE } from './shared-words.ts';

const DEPLOYMENT = {
  name: 'schedule',
  required: true,
  description: 'Id or name of the Schedule',
} as const satisfies ArgSpec;
const RUN = {
  name: 'run',
  required: true,
  description: 'Id of the run',
} as const satisfies ArgSpec;

export const RUN_FILTERS = [
  {
    name: 'schedule',
    also: ['deployment'],
    type: 'string',
    value: 'NAME',
    description: 'Filter by Schedule, id or name',
  },
  {
    name: 'trigger',
    type: 'string',
    value: 'TYPE',
    choices: ['manual', 'schedule'],
    description: 'Filter by trigger',
  },
  {
    name: 'status',
    type: 'string',
    value: 'STATUS',
    choices: ['pending', 'succeeded', 'failed'],
    repeatable: true,
    description: 'Filter by whether the run began its Session: pending, succeeded or failed',
  },
  {
    name: 'failed',
    type: 'boolean',
    description: 'Show only runs that failed, in their Session or without one',
  },
] as const satisfies readonly FlagSpec[];

/** Commands on the Schedules of the key's organization, and on their runs. */
export const DEPLOYMENT_COMMANDS = [
  {
    name: 'deployments',
    aliases: ['schedules'],
    summary: 'Create, change, pause and archive Schedules',
    examples: [{ command: 'gateway schedules list', note: 'The newest first' }],
  },
  {
    name: 'deployments list',
    aliases: ['ls'],
    summary: 'List Schedules',
    description: 'Newest first, of the organization of the key.',
    examples: [{ command: 'gateway schedules list --status paused', note: 'Paused Schedules' }],
    flags: [
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        choices: ['active', 'paused'],
        description: 'Filter by status',
      },
      { name: 'agent', type: 'string', value: 'ID', description: 'Filter by Agent' },
      { name: 'archived', type: 'boolean', description: 'Include archived ones' },
    ],
    load: () => import('../commands/schedules/deployments-list.ts'),
  },
  plainCommand('deployments', 'get', {
    examples: [{ command: 'gateway schedules get report', note: 'With its next firing times' }],
    args: [DEPLOYMENT],
  }),
  ...writeCommands({
    kind: 'deployments',
    create: [
      {
        command:
          "gateway schedules create report --cron '0 7 * * 1-5' --timezone Europe/Berlin --agent reporter --message 'Write the report.'",
        note: 'Weekdays at seven, in Berlin',
      },
    ],
    update: [
      { command: "gateway schedules update report --cron '30 6 * * *'", note: 'At another time' },
      { command: 'gateway schedules update report --clear schedule', note: 'By hand alone' },
    ],
  }),
  plainCommand('deployments', 'pause', {
    description: 'It can still be triggered by hand.',
    examples: [{ command: 'gateway schedules pause report', note: 'Until it is unpaused' }],
    args: [DEPLOYMENT],
  }),
  plainCommand('deployments', 'unpause', {
    description: 'It fires from now on; missed times are not caught up.',
    examples: [{ command: 'gateway schedules unpause report', note: 'After a pause' }],
    args: [DEPLOYMENT],
  }),
  plainCommand('deployments', 'archive', {
    description: 'It stays readable and never fires again. This cannot be undone.',
    examples: [{ command: 'gateway schedules archive report --yes', note: 'Without confirmation' }],
    args: [DEPLOYMENT],
  }),
  plainCommand('deployments', 'delete', {
    description: 'Its runs and their Sessions stay. This cannot be undone.',
    examples: [{ command: 'gateway schedules delete report --yes', note: 'Without confirmation' }],
    args: [DEPLOYMENT],
  }),
  {
    name: 'deployments test-notification',
    summary: 'Send a test message to the chat of a Schedule',
    description: 'Succeeds only when the chat provider accepts the message.',
    examples: [
      { command: 'gateway schedules test-notification report', note: 'Post to its webhook' },
    ],
    args: [DEPLOYMENT],
    load: () => import('../commands/schedules/deployments-test-notification.ts'),
  },
  {
    name: 'deployments next',
    summary: 'Show the next firing times of a cron expression',
    description: 'Works offline. `schedules get` shows the same for an existing Schedule.',
    examples: [
      {
        command: "gateway schedules next '0 7 * * 1-5' --timezone Europe/Berlin",
        note: 'Weekdays at seven, in Berlin',
      },
    ],
    args: [
      { name: 'expression', required: true, description: 'Five fields, quoted as one argument' },
    ],
    flags: [
      {
        name: 'timezone',
        type: 'string',
        value: 'ZONE',
        default: 'UTC',
        description: 'IANA time zone',
      },
      {
        name: 'count',
        short: 'n',
        type: 'integer',
        value: 'N',
        min: 1,
        max: 1000,
        default: 5,
        description: 'Number of firing times',
      },
      {
        name: 'from',
        type: 'string',
        value: 'TIME',
        description:
          'Start after this time instead of now, such as 2026-11-21 or 2026-11-21T10:00:00Z',
      },
    ],
    load: () => import('../commands/schedules/deployments-next.ts'),
  },
  {
    name: 'trigger',
    summary: 'Trigger a Schedule now',
    description:
      'Prints the run. --wait waits until its Session is over and exits 0, 7 if it failed or waits for a person, or 8 on --timeout. --tail shows its events meanwhile; -o json is NDJSON then. A trigger whose outcome is unknown is never repeated: the runs since then are listed, and the exit code is 8.',
    examples: [
      { command: 'gateway trigger report', note: 'Also when it is paused' },
      { command: 'gateway trigger report --tail', note: 'And follow its Session' },
    ],
    args: [DEPLOYMENT],
    flags: [
      { name: 'wait', type: 'boolean', description: 'Wait until its Session is over' },
      {
        name: 'tail',
        short: 'f',
        type: 'boolean',
        description: 'Show the events of its Session until it is over',
      },
    ],
    endless: { with: ['tail'] },
    load: () => import('../commands/schedules/trigger.ts'),
  },
  {
    name: 'runs',
    summary: 'List and watch the runs of Schedules',
    examples: [{ command: 'gateway runs list', note: 'The newest first' }],
  },
  {
    name: 'runs list',
    aliases: ['ls'],
    summary: 'List runs',
    description:
      'Newest first, of every Schedule of the organization of the key. SESSION is what became of its Session: running, completed, waits for a person, failed or ended by time. Keys need the scopes deployments and sessions.',
    examples: [
      {
        command: 'gateway runs list --schedule report -n 50',
        note: 'The 50 most recent of one Schedule',
      },
      { command: 'gateway runs list --failed', note: 'Runs that failed, whose Session failed too' },
    ],
    flags: [LIMIT, ...RUN_FILTERS, ...RANGE],
    load: () => import('../commands/schedules/runs-list.ts'),
  },
  {
    name: 'runs get',
    summary: 'Show one run',
    examples: [
      { command: 'gateway runs get drun_01', note: 'Trigger, Session and what became of it' },
    ],
    args: [RUN],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/schedules/runs-get.ts'),
  },
  {
    name: 'runs watch',
    summary: 'Watch runs as they happen',
    description:
      'Shows each run when it begins and whenever its Session comes to another state, until Ctrl-C; of earlier ones the 500 newest whose Sessions run or wait. -o json is NDJSON of runs. Retries when the gateway does not answer.',
    examples: [
      { command: 'gateway runs watch --schedule report', note: 'Runs of one Schedule' },
      { command: 'gateway runs watch --failed -o json', note: 'Feed an alert' },
    ],
    flags: [
      ...RUN_FILTERS,
      FROM,
      SINCE,
      {
        name: 'interval',
        type: 'duration',
        value: 'DURATION',
        default: '2s',
        min: 1,
        description: 'Polling interval',
      },
    ],
    endless: true,
    load: () => import('../commands/schedules/runs-watch.ts'),
  },
] as const;
