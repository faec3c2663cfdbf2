import { ROLES, TAKEN_SCOPES } from '../../core/access.ts';
import type { FlagSpec } from '../command.ts';
import { plainCommand } from './plain-commands.ts';
import { writeCommands } from './write-commands.ts';
import {
  FORCE,
  ID,
  IGNORE_NOT_FOUND,
  OBJECT_FORMATS,
  ORGANIZATION,
  VALUE_FLAGS,
} from './shared-words.ts';

const NAME = {
  name: 'name',
  type: 'string',
  value: 'NAME',
  description: 'Name of the key, instead of the argument',
} as const satisfies FlagSpec;

/** Flags that say what a key may do. */
export const KEY_LIMITS = [
  {
    name: 'scope',
    type: 'string',
    value: 'SCOPE',
    choices: TAKEN_SCOPES,
    repeatable: true,
    description: 'Allowed scope (default: all but admin)',
  },
  {
    name: 'role',
    type: 'string',
    value: 'ROLE',
    choices: ROLES,
    description: 'Role, which bounds what the scopes allow (default: none)',
  },
  {
    name: 'rpm-cap',
    type: 'integer',
    value: 'N',
    min: 1,
    description: 'Requests per minute (sliding window)',
  },
  {
    name: 'concurrency-cap',
    type: 'integer',
    value: 'N',
    min: 1,
    description: 'Concurrent requests',
  },
  {
    name: 'conversation-spending',
    type: 'string',
    value: 'USD',
    description: 'Spending limit of each conversation',
  },
  {
    name: 'spending-limit',
    type: 'string',
    value: 'USD',
    description: 'Total spending limit',
  },
  {
    name: 'spending-limit-day',
    type: 'string',
    value: 'USD',
    description: 'Spending limit per day (UTC)',
  },
  {
    name: 'spending-limit-month',
    type: 'string',
    value: 'USD',
    description: 'Spending limit per month (UTC)',
  },
  {
    name: 'expires-at',
    type: 'string',
    value: 'TIME',
    description: 'Expiry time, RFC 3339',
  },
  {
    name: 'expires-in',
    type: 'duration',
    excludes: ['expires-at'],
    value: 'DURATION',
    min: 1,
    description: 'Time until expiry, such as 12h or 30d',
  },
  {
    name: 'allowed-model',
    type: 'string',
    value: 'PATTERN',
    repeatable: true,
    description: 'Allowed model, * matches anything (default: all)',
  },
] as const satisfies readonly FlagSpec[];

/** Fields that a key can be without. */
const CLEARABLE = [
  'scopes',
  'role',
  'rpm-cap',
  'concurrency-cap',
  'conversation-spending',
  'spending-limit',
  'spending-limit-day',
  'spending-limit-month',
  'expiry',
  'allowed-models',
] as const;

/** Commands on API keys; they need a key with the scope admin. */
export const KEY_COMMANDS = [
  {
    name: 'budgets',
    summary: 'Create, change and list budgets',
    examples: [{ command: 'gateway budgets list', note: 'What is spent and left' }],
  },
  {
    name: 'budgets list',
    aliases: ['ls'],
    summary: 'List budgets with what is spent and left of each',
    examples: [
      { command: 'gateway budgets list', note: 'Of every organization' },
      { command: 'gateway budgets list --own', note: "Of the key's organization" },
    ],
    flags: [
      {
        name: 'own',
        type: 'boolean',
        description: "Only the key's own organization; takes a key with the scope account",
      },
    ],
    load: () => import('../commands/budgets/list.ts'),
  },
  plainCommand('budgets', 'get', {
    summary: 'Show one budget',
    examples: [{ command: 'gateway budgets get team-blue', note: 'Its calls and its amount' }],
  }),
  ...writeCommands({
    kind: 'budgets',
    one: 'a budget',
    create: [
      {
        command: 'gateway budgets create team-blue --amount 500 --per month',
        note: 'For all calls of the organization',
      },
    ],
    update: [{ command: 'gateway budgets update team-blue --amount 800', note: 'Another amount' }],
  }),
  plainCommand('budgets', 'disable', {
    examples: [{ command: 'gateway budgets disable team-blue', note: 'It counts nothing more' }],
  }),
  plainCommand('budgets', 'enable', {
    examples: [{ command: 'gateway budgets enable team-blue', note: 'After it was disabled' }],
  }),
  plainCommand('budgets', 'delete', {
    examples: [{ command: 'gateway budgets delete team-blue', note: 'With what it has counted' }],
  }),
  {
    name: 'keys',
    summary: 'Create, limit, rotate and revoke API keys',
    examples: [{ command: 'gateway keys create my-app', note: 'A new key' }],
  },
  {
    name: 'keys create',
    summary: 'Create an API key and print its value once',
    description:
      'The value is printed on stdout once; afterwards only a hint of it is shown. With -o yaml, creates no key and prints the YAML of gateway.yaml.',
    examples: [
      { command: 'gateway keys create my-app', note: 'A key for everything but admin' },
      {
        command: 'gateway keys create ci --scope inference --spending-limit-day 5 --expires-in 30d',
        note: 'A key with limits',
      },
      {
        command: 'gateway keys create books --scope admin --role billing',
        note: 'A key that reads costs alone',
      },
    ],
    args: [{ name: 'name', description: 'Name of the key' }],
    flags: [NAME, ORGANIZATION, ...KEY_LIMITS],
    formats: ['yaml'],
    load: () => import('../commands/account/keys-create.ts'),
  },
  {
    name: 'keys list',
    aliases: ['ls'],
    summary: 'List API keys with role, state and last use',
    description:
      'The state is active, expired, revoked, or disabled where the organization is. The last use is a UTC day within the last 90 days.',
    examples: [
      { command: 'gateway keys list', note: 'Every key, without its value' },
      { command: 'gateway keys list -o wide', note: 'With scopes, models and rate' },
    ],
    flags: [ORGANIZATION],
    load: () => import('../commands/account/keys-list.ts'),
  },
  {
    name: 'keys get',
    summary: 'Show one API key',
    examples: [{ command: 'gateway keys get my-app', note: 'Limits and state' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/account/keys-get.ts'),
  },
  {
    name: 'keys update',
    summary: 'Change the name, limits, expiry and labels of an API key',
    description:
      'Only the given fields change. A key owned by a namespace of gateway.yaml needs --force, and the next apply may change it back. A revoked key is refused (exit 5). With -o yaml, changes nothing and prints the YAML of gateway.yaml.',
    examples: [
      {
        command: 'gateway keys update ci --spending-limit-day 10 --rpm-cap 60',
        note: 'New limits',
      },
      {
        command: 'gateway keys update ci --clear expiry --clear scopes',
        note: 'Remove expiry and scopes',
      },
      {
        command: 'gateway keys update ci --name build --label team=core --label old-',
        note: 'Rename; add one label, remove another',
      },
    ],
    args: [ID],
    flags: [
      { ...NAME, description: 'New name' },
      ...KEY_LIMITS,
      {
        name: 'label',
        type: 'string',
        value: 'KEY=VALUE',
        repeatable: true,
        description: 'Set a label; KEY- removes it',
      },
      {
        name: 'clear',
        type: 'string',
        value: 'FIELD',
        choices: CLEARABLE,
        repeatable: true,
        description: 'Field to clear',
      },
      FORCE,
    ],
    formats: OBJECT_FORMATS,
    load: () => import('../commands/account/keys-update.ts'),
  },
  {
    name: 'keys rotate',
    summary: 'Give an API key a new value and print it once',
    description:
      'Both values share limits, spending, labels and usage. The former value works until --overlap has passed, then answers `API key has been revoked`. A key has at most two values: while a rotation is in progress, the next one needs --end, or --overlap 0, which ends every former value immediately.',
    examples: [
      { command: 'gateway keys rotate ci > ci.key', note: 'The former value works for a day' },
      {
        command: 'gateway keys rotate ci --overlap 0',
        note: 'After a leak: end the former value now',
      },
      {
        command: 'gateway keys rotate ci --end current',
        note: 'Replace a new value that was lost',
      },
      {
        command: 'gateway keys rotate ci --value-env CI_KEY',
        note: 'Take the value that the files declare',
      },
    ],
    args: [ID],
    flags: [
      ...VALUE_FLAGS,
      {
        name: 'overlap',
        type: 'duration',
        value: 'DURATION',
        default: '24h',
        max: 90 * 86_400_000,
        description: 'How long the former value keeps working, at most 90d',
      },
      {
        name: 'end',
        type: 'string',
        value: 'VALUE',
        choices: ['former', 'current'],
        description: 'Which of two valid values ends now',
      },
    ],
    load: () => import('../commands/account/keys-rotate.ts'),
  },
  plainCommand('keys', 'revoke', {
    summary: 'Revoke an API key permanently',
    description: 'The key stops working within a second. This cannot be undone.',
    examples: [{ command: 'gateway keys revoke my-app --yes', note: 'Without confirmation' }],
  }),
] as const;
