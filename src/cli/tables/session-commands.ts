import type { ArgSpec, FlagSpec } from '../command.ts';
import { IGNORE_NOT_FOUND } from './shared-words.ts';

const ID = {
  name: 'id',
  required: true,
  description: 'Id of the Session',
} as const satisfies ArgSpec;

export const TYPE = {
  name: 'type',
  type: 'string',
  value: 'TYPE',
  repeatable: true,
  description: 'Filter by event type; several separated by commas',
} as const satisfies FlagSpec;

const TAIL = {
  description:
    'Shows every event once and in order. Reconnects after the last event received, and gives up with exit 1 after 30 seconds without a connection. Ends when the Session is terminated or deleted. -o json is NDJSON of events. With --until-done a failed turn exits 7.',
  args: [ID],
  flags: [
    {
      name: 'lines',
      short: 'n',
      type: 'integer',
      value: 'N',
      description: 'Only the last N events of the history; 0 for new events only',
    },
    TYPE,
    { name: 'no-follow', type: 'boolean', description: 'Show the history and exit' },
    {
      name: 'until-done',
      type: 'boolean',
      description: 'Exit when the Session is idle, immediately if it already is',
    },
    IGNORE_NOT_FOUND,
  ],
  load: () => import('../commands/sessions/sessions-tail.ts'),
} as const;

/** Commands on the Sessions of the key's organization. */
export const SESSION_COMMANDS = [
  {
    name: 'sessions',
    summary: 'List, read, archive and delete Sessions',
    examples: [{ command: 'gateway sessions list', note: 'The newest first' }],
  },
  {
    name: 'sessions list',
    aliases: ['ls'],
    summary: 'List Sessions',
    description: 'Newest first, of the organization of the key.',
    examples: [
      { command: 'gateway sessions list -n 20', note: 'The 20 most recent' },
      { command: 'gateway sessions list --status running -q', note: 'Ids of running Sessions' },
    ],
    flags: [
      {
        name: 'limit',
        short: 'n',
        type: 'integer',
        value: 'N',
        min: 1,
        description: 'Maximum number of results',
      },
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        choices: ['idle', 'running', 'rescheduling', 'terminated'],
        repeatable: true,
        description: 'Filter by status',
      },
      { name: 'agent', type: 'string', value: 'ID', description: 'Filter by Agent' },
      { name: 'service', type: 'string', value: 'ID', description: 'Filter by Service' },
      { name: 'archived', type: 'boolean', description: 'Include archived ones' },
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
    description: 'All events so far, oldest first.',
    examples: [
      { command: 'gateway sessions events sess_01', note: 'All of it' },
      {
        command: 'gateway sessions events sess_01 --type user.message,agent.message -o json',
        note: 'Only messages, as JSON',
      },
    ],
    args: [ID],
    flags: [TYPE],
    load: () => import('../commands/sessions/sessions-events.ts'),
  },
  {
    name: 'sessions tail',
    summary: 'Show the history of a Session and follow new events',
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
    description: 'It stays readable and accepts no more input. This cannot be undone.',
    examples: [{ command: 'gateway sessions archive sess_01 --yes', note: 'Without confirmation' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/sessions/sessions-archive.ts'),
  },
  {
    name: 'sessions delete',
    aliases: ['rm'],
    summary: 'Delete a Session with its history',
    description: 'Stops its turn. This cannot be undone.',
    examples: [{ command: 'gateway sessions delete sess_01 --yes', note: 'Without confirmation' }],
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
] as const;
