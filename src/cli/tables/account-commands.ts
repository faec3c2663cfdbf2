import { LIMIT, RANGE } from './shared-words.ts';

/** Commands by which a key sees its own organization, in the order of help. */
export const ACCOUNT_COMMANDS = [
  {
    name: 'account',
    summary: 'Show the balance and the limits of your organization',
    description: 'Needs no admin key: a key with the scope `account` is enough.',
    examples: [
      { command: 'gateway account', note: 'Balance, limits and spending' },
      { command: 'gateway account --quiet', note: 'Only the balance' },
    ],
    load: () => import('../commands/account/account.ts'),
  },
  {
    name: 'executions',
    lists: true,
    summary: 'List the calls of your organization',
    description: 'Newest first, without content. Needs no admin key.',
    examples: [
      { command: 'gateway executions --limit 50', note: 'The 50 most recent' },
      { command: 'gateway executions --status error --from 2026-11-01', note: 'Failed calls' },
    ],
    flags: [
      LIMIT,
      { name: 'model', type: 'string', value: 'NAME', description: 'Filter by model' },
      {
        name: 'status',
        type: 'string',
        value: 'STATUS',
        description: 'Filter by HTTP status, or ok, error, aborted, interrupted, pending',
      },
      ...RANGE,
    ],
    load: () => import('../commands/services/executions.ts'),
  },
] as const;
