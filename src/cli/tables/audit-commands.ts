import { LIMIT, ORGANIZATION, RANGE } from './shared-words.ts';

/** Commands on the audit log, in the order of help. */
export const AUDIT_COMMANDS = [
  {
    name: 'audit',
    lists: true,
    summary: 'Show who changed what, and who signed in',
    description:
      'Newest first; with an id, one entry with all that it changed. --follow shows each as it is written, oldest first; -o json is NDJSON of entries then. -o csv has one row for each changed member.',
    examples: [
      { command: 'gateway audit --actor ci --since 24h', note: 'What a key did in the last day' },
      {
        command: 'gateway audit --kind model --object acme/fast',
        note: 'Changes of one model',
      },
      {
        command: 'gateway audit --from 2026-11-01 --limit 100000 -o csv',
        note: 'Export to a spreadsheet',
      },
      { command: 'gateway audit --follow', note: 'As it happens' },
    ],
    args: [{ name: 'entry', description: 'Id of an entry' }],
    flags: [
      LIMIT,
      { name: 'actor', type: 'string', value: 'WHO', description: 'Filter by who, id or name' },
      {
        name: 'action',
        type: 'string',
        value: 'ACTION',
        description: 'Filter by action, such as create, update, delete, sign_in or read',
      },
      { name: 'kind', type: 'string', value: 'KIND', description: 'Filter by kind of object' },
      {
        name: 'object',
        type: 'string',
        value: 'OBJECT',
        description: 'Filter by object, id or name',
      },
      { name: 'request', type: 'string', value: 'ID', description: 'Filter by request id' },
      {
        name: 'follow',
        short: 'f',
        type: 'boolean',
        excludes: ['to'],
        description: 'Follow entries as they are written, from now or from --since, until Ctrl-C',
      },
      ...RANGE,
      ORGANIZATION,
    ],
    formats: ['csv'],
    endless: { with: ['follow'] },
    load: () => import('../commands/audit/audit.ts'),
  },
  {
    name: 'audit verify',
    summary: 'Check that nobody has changed the audit log',
    description:
      'Compares every entry with its chain and the chains with their seals. Names the first entry that was changed, removed, reordered or put in, and exits 1 then.',
    examples: [{ command: 'gateway audit verify', note: 'The whole log' }],
    load: () => import('../commands/audit/audit-verify.ts'),
  },
] as const;
