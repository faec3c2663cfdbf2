import type { CommandSpec } from '../command.ts';
import { LIMIT, RANGE } from './shared-words.ts';

/** Commands for a key's reads of its own organization, in the order of help. */
export const ACCOUNT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'account',
    summary: 'Show the balance and the limits of your organization',
    description: 'Needs no admin key: a key with the scope `account` is enough.',
    examples: [
      { command: 'gateway account', note: 'What is left, and what was spent' },
      { command: 'gateway account --quiet', note: 'The balance alone' },
    ],
    load: () => import('../commands/account/account.ts'),
  },
  {
    name: 'executions',
    summary: 'List the calls of your organization',
    description: 'Newest first, without content. Needs no admin key.',
    examples: [
      { command: 'gateway executions --limit 50', note: 'The last 50' },
      { command: 'gateway executions --status error --from 2026-11-01', note: 'What failed' },
    ],
    flags: [
      LIMIT,
      { name: 'model', type: 'string', value: 'NAME', description: 'Only of this model' },
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        description: 'HTTP status, or ok, error, aborted, interrupted, pending',
      },
      ...RANGE,
    ],
    load: () => import('../commands/services/executions.ts'),
  },
];
