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

/** Flags of commands that send something to a Session. */
export const FOLLOW_FLAGS = [
  {
    name: 'follow',
    short: 'f',
    type: 'boolean',
    description: "Stream the agent's answer until the turn ends",
  },
  {
    name: 'tail',
    type: 'boolean',
    excludes: ['follow'],
    description: 'Show every event until the turn ends',
  },
] as const satisfies readonly FlagSpec[];

/** With one of them the turn decides when it ends. */
const FOLLOWS = { with: ['follow', 'tail'] } as const;

const SESSION = {
  name: 'session',
  required: true,
  description: 'Id of the Session',
} as const satisfies ArgSpec;

const CALLS = {
  name: 'calls',
  variadic: true,
  description: 'Names or ids of calls (default: the only one that waits)',
} as const satisfies ArgSpec;

const ALL = { name: 'all', type: 'boolean', description: 'Every call that waits' } as const;

const TAIL = {
  endless: true,
  description:
    'Shows every event once and in order. Reconnects after the last event received, and gives up with exit 1 after 30 seconds without a connection. Ends when the Session is terminated or deleted. -o json is NDJSON of events. A Session that waits for a person is reported with what to type. With --until-done a turn that failed or waits exits 7.',
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
      excludes: ['no-follow'],
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
    summary: 'List, read, answer, archive and delete Sessions',
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
      { command: 'gateway sessions list --waiting', note: 'Those that wait for a person' },
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
      {
        name: 'waiting',
        type: 'boolean',
        excludes: ['status'],
        description:
          'Only those that wait for a permission or the result of a tool; all of them are idle',
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
    lists: true,
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
    name: 'sessions allow',
    aliases: ['approve'],
    summary: 'Allow a call that waits for permission',
    description:
      'The call runs once and its turn continues. Where several calls wait, they are listed: name one, or pass --all.',
    examples: [
      { command: 'gateway sessions allow sess_01 --follow', note: 'And show the answer' },
      { command: 'gateway sessions allow sess_01 --all', note: 'Every call that waits' },
    ],
    args: [SESSION, CALLS],
    flags: [ALL, ...FOLLOW_FLAGS],
    endless: FOLLOWS,
    load: () => import('../commands/sessions/sessions-allow.ts'),
  },
  {
    name: 'sessions deny',
    aliases: ['reject'],
    summary: 'Deny a call that waits for permission',
    description: 'The model is given the reason and its turn continues without the call.',
    examples: [
      {
        command: 'gateway sessions deny sess_01 --reason "Ask the owner first"',
        note: 'With a reason for the model',
      },
    ],
    args: [SESSION, CALLS],
    flags: [
      { name: 'reason', type: 'string', value: 'TEXT', description: 'Reason for the model' },
      ALL,
      ...FOLLOW_FLAGS,
    ],
    endless: FOLLOWS,
    load: () => import('../commands/sessions/sessions-deny.ts'),
  },
  {
    name: 'sessions answer',
    summary: 'Give the result of a tool that the client runs',
    description:
      'For custom tools. Without a result, or with -, reads it from stdin. Where several calls wait, name one with --call.',
    examples: [
      { command: 'gateway sessions answer sess_01 "shipped on Monday"', note: 'A text' },
      {
        command: `gateway sessions answer sess_01 --data '{"status":"shipped"}' --follow`,
        note: 'JSON',
      },
      { command: 'gateway sessions answer sess_01 --file report.txt', note: 'A file' },
    ],
    args: [SESSION, { name: 'result', description: 'Text of the result; - reads stdin' }],
    flags: [
      { name: 'file', type: 'string', value: 'PATH', description: 'File that holds the text' },
      {
        name: 'data',
        short: 'd',
        type: 'string',
        value: 'JSON',
        description: 'Result as JSON; @FILE reads a file, - reads stdin',
      },
      { name: 'call', type: 'string', value: 'CALL', description: 'Name or id of the call' },
      { name: 'failed', type: 'boolean', description: 'The tool failed; the result says why' },
      ...FOLLOW_FLAGS,
    ],
    endless: FOLLOWS,
    load: () => import('../commands/sessions/sessions-answer.ts'),
  },
  {
    name: 'sessions send',
    summary: 'Send a message to a Session',
    description:
      'It begins the next turn. Without a message, or with -, reads it from stdin. With --follow or --tail, a Session that waits for a person is answered first: on a terminal it is asked for, elsewhere the command exits 7.',
    examples: [{ command: 'gateway sessions send sess_01 "go on" --follow', note: 'And wait' }],
    args: [SESSION, { name: 'message', description: 'Text of the message; - reads stdin' }],
    flags: FOLLOW_FLAGS,
    endless: FOLLOWS,
    load: () => import('../commands/sessions/sessions-send.ts'),
  },
  {
    name: 'sessions interrupt',
    summary: 'End the turn of a Session that runs or waits',
    description: 'The Session stays and takes the next message.',
    examples: [{ command: 'gateway sessions interrupt sess_01', note: 'Its turn' }],
    args: [SESSION],
    flags: FOLLOW_FLAGS,
    endless: FOLLOWS,
    load: () => import('../commands/sessions/sessions-interrupt.ts'),
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
