import type { ArgSpec, CommandSpec, FlagSpec } from '../command.ts';
import { IGNORE_NOT_FOUND } from './shared-words.ts';

const ID: ArgSpec = { name: 'id', required: true, description: 'Id of the Session' };

const TYPE: FlagSpec = {
  name: 'type',
  type: 'string',
  value: 'TYPE',
  repeatable: true,
  description: 'Only events of this type, or of these, separated by commas',
};

const TAIL: Omit<CommandSpec, 'name' | 'summary' | 'examples'> = {
  description:
    'Every event once and in order, also when the connection is lost in between: it is made again behind the last event that came, and given up with exit 1 after half a minute without one. Ends when the Session is terminated or deleted. With -o json it is NDJSON of events. A turn that fails exits 7 with --until-done.',
  args: [ID],
  flags: [
    {
      name: 'lines',
      short: 'n',
      type: 'integer',
      value: 'N',
      description: 'Only the last N events of the history; 0 for what happens from now on',
    },
    TYPE,
    { name: 'no-follow', type: 'boolean', description: 'Show the history and end' },
    {
      name: 'until-done',
      type: 'boolean',
      description: 'End when the Session rests, at once when it does already',
    },
    IGNORE_NOT_FOUND,
  ],
  load: () => import('../commands/sessions/sessions-tail.ts'),
};

/** Commands on the Sessions of the key's organization. */
export const SESSION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'sessions',
    summary: 'List Sessions, read their events, end them',
    examples: [{ command: 'gateway sessions list', note: 'The newest first' }],
  },
  {
    name: 'sessions list',
    aliases: ['ls'],
    summary: 'List Sessions',
    description: 'Newest first, of the organization of the key.',
    examples: [
      { command: 'gateway sessions list -n 20', note: 'The last 20' },
      { command: 'gateway sessions list --status running -q', note: 'Ids of those at work' },
    ],
    flags: [
      { name: 'limit', short: 'n', type: 'integer', value: 'N', min: 1, description: 'How many' },
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        choices: ['idle', 'running', 'rescheduling', 'terminated'],
        repeatable: true,
        description: 'Only in this state',
      },
      { name: 'agent', type: 'string', value: 'ID', description: 'Only of this Agent' },
      { name: 'service', type: 'string', value: 'ID', description: 'Only of this Service' },
      { name: 'archived', type: 'boolean', description: 'Archived ones, too' },
    ],
    load: () => import('../commands/sessions/sessions-list.ts'),
  },
  {
    name: 'sessions get',
    summary: 'Show one Session',
    examples: [{ command: 'gateway sessions get sess_01', note: 'Status, Agent and usage' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/sessions/sessions-get.ts'),
  },
  {
    name: 'sessions events',
    summary: 'Show the history of a Session',
    description: 'Every event so far, oldest first.',
    examples: [
      { command: 'gateway sessions events sess_01', note: 'All of it' },
      {
        command: 'gateway sessions events sess_01 --type user.message,agent.message -o json',
        note: 'What was said, as JSON',
      },
    ],
    args: [ID],
    flags: [TYPE],
    load: () => import('../commands/sessions/sessions-events.ts'),
  },
  {
    name: 'sessions tail',
    summary: 'Show the history of a Session, then what happens',
    examples: [
      { command: 'gateway sessions tail sess_01', note: 'Until Ctrl-C' },
      { command: 'gateway sessions tail sess_01 --until-done', note: 'Until its turn ends' },
      {
        command: 'gateway sessions tail sess_01 -n 20 --type agent.message --no-follow',
        note: 'The last 20 answers',
      },
    ],
    ...TAIL,
  },
  {
    name: 'sessions archive',
    summary: 'Archive a Session',
    description: 'It stays readable and takes no more input. This cannot be undone.',
    examples: [{ command: 'gateway sessions archive sess_01 --yes', note: 'Without being asked' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/sessions/sessions-archive.ts'),
  },
  {
    name: 'sessions delete',
    aliases: ['rm'],
    summary: 'Delete a Session with its history',
    description: 'Ends its turn. This cannot be undone.',
    examples: [{ command: 'gateway sessions delete sess_01 --yes', note: 'Without being asked' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/sessions/sessions-delete.ts'),
  },
  {
    name: 'tail',
    summary: 'Short for `gateway sessions tail`',
    examples: [{ command: 'gateway tail sess_01 --until-done', note: 'Until its turn ends' }],
    ...TAIL,
  },
];
