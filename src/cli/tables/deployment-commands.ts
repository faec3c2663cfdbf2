import type { ArgSpec, CommandSpec, FlagSpec } from '../command.ts';
import { loadChange, loadGet } from './plain-commands.ts';
import { FROM, IGNORE_NOT_FOUND, LIMIT, RANGE, SINCE } from './shared-words.ts';

const DEPLOYMENT: ArgSpec = {
  name: 'deployment',
  required: true,
  description: 'Id or name of the Schedule',
};
const RUN: ArgSpec = { name: 'run', required: true, description: 'Id of the run' };

const RUN_FILTERS: readonly FlagSpec[] = [
  {
    name: 'deployment',
    type: 'string',
    value: 'NAME',
    description: 'Only of this Schedule, by id or name',
  },
  {
    name: 'trigger',
    type: 'string',
    value: 'TYPE',
    choices: ['manual', 'schedule'],
    description: 'Only triggered like this',
  },
  {
    name: 'status',
    type: 'string',
    value: 'STATUS',
    choices: ['pending', 'succeeded', 'failed'],
    repeatable: true,
    description: 'Only in this state',
  },
];

/** Commands on the Schedules of the key's organization, and on their runs. */
export const DEPLOYMENT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'deployments',
    aliases: ['schedules'],
    summary: 'List, pause, unpause and archive Schedules',
    examples: [{ command: 'gateway schedules list', note: 'The newest first' }],
  },
  {
    name: 'deployments list',
    aliases: ['ls'],
    summary: 'List Schedules',
    description: 'Newest first, of the organization of the key.',
    examples: [{ command: 'gateway schedules list --status paused', note: 'Those that rest' }],
    flags: [
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        choices: ['active', 'paused'],
        description: 'Only in this state',
      },
      { name: 'agent', type: 'string', value: 'ID', description: 'Only of this Agent' },
      { name: 'archived', type: 'boolean', description: 'Archived ones, too' },
    ],
    load: () => import('../commands/schedules/deployments-list.ts'),
  },
  {
    name: 'deployments get',
    summary: 'Show one Schedule',
    examples: [
      { command: 'gateway schedules get report', note: 'Also when it fires the next times' },
    ],
    args: [DEPLOYMENT],
    flags: [IGNORE_NOT_FOUND],
    load: loadGet('deployments'),
  },
  {
    name: 'deployments pause',
    summary: 'Keep a Schedule from firing',
    description: 'It can still be triggered by hand.',
    examples: [{ command: 'gateway schedules pause report', note: 'Until it is unpaused' }],
    args: [DEPLOYMENT],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('deployments', 'pause'),
  },
  {
    name: 'deployments unpause',
    summary: 'Let a Schedule fire again',
    description: 'From now on: what it missed is not made up for.',
    examples: [{ command: 'gateway schedules unpause report', note: 'After a pause' }],
    args: [DEPLOYMENT],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('deployments', 'unpause'),
  },
  {
    name: 'deployments archive',
    summary: 'Archive a Schedule',
    description: 'It stays readable and never fires again. This cannot be undone.',
    examples: [{ command: 'gateway schedules archive report --yes', note: 'Without being asked' }],
    args: [DEPLOYMENT],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('deployments', 'archive'),
  },
  {
    name: 'deployments delete',
    aliases: ['rm'],
    summary: 'Delete a Schedule',
    description: 'Its runs and their Sessions stay. This cannot be undone.',
    examples: [{ command: 'gateway schedules delete report --yes', note: 'Without being asked' }],
    args: [DEPLOYMENT],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('deployments', 'delete'),
  },
  {
    name: 'deployments test-notification',
    summary: 'Send a test message to the chat of a Schedule',
    description: 'Succeeds only when the chat provider says that it took the message.',
    examples: [{ command: 'gateway schedules test-notification report', note: 'To its webhook' }],
    args: [DEPLOYMENT],
    load: () => import('../commands/schedules/deployments-test-notification.ts'),
  },
  {
    name: 'deployments next',
    summary: 'Show when a cron expression fires next',
    description: 'Asks no server. `schedules get` shows the same for a Schedule that there is.',
    examples: [
      {
        command: "gateway schedules next '0 7 * * 1-5' --timezone Europe/Berlin",
        note: 'Weekdays at seven, in Berlin',
      },
    ],
    args: [{ name: 'expression', required: true, description: 'Five fields, as one word' }],
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
        description: 'How many',
      },
      {
        name: 'from',
        type: 'string',
        value: 'TIME',
        description: 'Behind this time instead of now, 2026-11-21 or 2026-11-21T10:00:00Z',
      },
    ],
    load: () => import('../commands/schedules/deployments-next.ts'),
  },
  {
    name: 'trigger',
    summary: 'Run a Schedule once, now',
    description:
      'Prints the run. With --wait it waits until the run has its Session and exits 0, 7 when it failed, 8 when --timeout passed. With --tail it also follows that Session until its turn ends; then -o json is NDJSON. A trigger whose outcome is unknown is never repeated: the runs since then are listed, and the exit code is 8.',
    examples: [
      { command: 'gateway trigger report', note: 'Also when it is paused' },
      { command: 'gateway trigger report --tail', note: 'And see what comes of it' },
    ],
    args: [DEPLOYMENT],
    flags: [
      { name: 'wait', type: 'boolean', description: 'Wait until the run is decided' },
      { name: 'tail', short: 'f', type: 'boolean', description: 'Wait, and follow its Session' },
    ],
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
    description: 'Newest first, of every Schedule of the organization of the key.',
    examples: [
      { command: 'gateway runs list --deployment report -n 50', note: 'The last 50 of one' },
      { command: 'gateway runs list --status failed', note: 'Those that came to nothing' },
    ],
    flags: [LIMIT, ...RUN_FILTERS, ...RANGE],
    load: () => import('../commands/schedules/runs-list.ts'),
  },
  {
    name: 'runs get',
    summary: 'Show one run',
    examples: [{ command: 'gateway runs get drun_01', note: 'Trigger, Session or error' }],
    args: [RUN],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/schedules/runs-get.ts'),
  },
  {
    name: 'runs watch',
    summary: 'Show runs as they happen',
    description:
      'Each as it begins and again when it is decided, until Ctrl-C. With -o json it is NDJSON of runs. A gateway that does not answer for a while is asked again.',
    examples: [
      { command: 'gateway runs watch --deployment report', note: 'Of one Schedule' },
      { command: 'gateway runs watch --status failed -o json', note: 'To raise an alarm' },
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
        description: 'Time between two looks',
      },
    ],
    load: () => import('../commands/schedules/runs-watch.ts'),
  },
];
