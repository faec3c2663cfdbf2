import { CONFIG } from './shared-words.ts';

/** Commands on the store itself, on the machine of the gateway. */
export const STORE_COMMANDS = [
  {
    name: 'store',
    summary: 'Back up, restore, verify and migrate the store, recover its admin key',
    examples: [
      { command: 'gateway store backup /backup/monday', note: 'While the gateway serves' },
    ],
  },
  {
    name: 'store backup',
    summary: 'Back up the embedded store and its media while serving',
    description:
      'Copies the lmdb store and the media folder into a new directory, with checksums. It contains every write acknowledged before the command, but not the master key. Back up other stores with the tools of their database.',
    examples: [
      {
        command: 'gateway store backup /backup/$(date +%F)',
        note: 'Into a new directory',
      },
    ],
    args: [
      {
        name: 'dir',
        required: true,
        description: 'Directory to create; may exist if empty',
      },
    ],
    flags: [CONFIG],
    load: () => import('../commands/store/store-backup.ts'),
  },
  {
    name: 'store restore',
    summary: 'Restore the store from a backup',
    description:
      'Verifies the backup, then restores its store in one step and adds its media. Refused while a process has the store open, and over an existing store unless --replace is given; that store is moved aside, never removed.',
    examples: [
      { command: 'gateway store restore /backup/monday', note: 'To the place in gateway.yaml' },
      { command: 'gateway store restore /backup/monday --replace', note: 'Over an existing store' },
      {
        command: 'gateway store restore /backup/monday --to /tmp/look',
        note: 'To another data directory',
      },
    ],
    args: [{ name: 'dir', required: true, description: 'A directory of `gateway store backup`' }],
    flags: [
      CONFIG,
      {
        name: 'to',
        type: 'string',
        value: 'DIR',
        description: 'Data directory to restore to (default: from gateway.yaml)',
      },
      { name: 'replace', type: 'boolean', description: 'Move an existing store aside' },
    ],
    load: () => import('../commands/store/store-restore.ts'),
  },
  {
    name: 'store admin-key',
    summary: 'Make a new admin key on the machine of the gateway',
    description:
      'For a lost admin.key, a restored store and a further machine: creates a key with every scope directly in the store, and writes its value to admin.key of the data directory (mode 0600), where the other commands find it. Needs the master key. Runs with a stopped gateway, and while one serves where the store allows several processes. Former admin keys stay valid and are listed with the command that revokes each. The audit log records it.',
    examples: [
      { command: 'gateway store admin-key', note: 'The store of gateway.yaml' },
      { command: 'gateway store admin-key -c prod.yaml', note: 'Of another file' },
    ],
    flags: [CONFIG],
    load: () => import('../commands/store/store-admin-key.ts'),
  },
  {
    name: 'store verify',
    summary: 'Verify every row of a store or a backup',
    description:
      'Reads and decodes every row, counts rows by the first part of their key, and checks the files of a backup against its checksums. Changes nothing. Exits 1 and names the place when something is broken.',
    examples: [
      { command: 'gateway store verify', note: 'The store of gateway.yaml, also while it serves' },
      { command: 'gateway store verify /backup/monday', note: 'A backup' },
      { command: 'gateway store verify lmdb:/srv/gateway/store', note: 'Any store' },
    ],
    args: [
      {
        name: 'what',
        description: 'A backup, or a store as in `store migrate` (default: the configured one)',
      },
    ],
    flags: [CONFIG],
    load: () => import('../commands/store/store-verify.ts'),
  },
  {
    name: 'store migrate',
    summary: 'Migrate a store to another kind',
    description:
      'Copies every row with its version and remaining lifetime, then reads both stores again and compares counts and checksums. Refused while a gateway uses either store, and if the target is not empty. No gateway starts on an interrupted copy; the same command restarts it. A store is DRIVER:PATH, the URL of its database with the options of the store as parameters, or a gateway.yaml, for the store it configures.',
    examples: [
      {
        command:
          'gateway store migrate --from gateway.yaml --to postgres://db.internal/gateway?schema=prod',
        note: 'From one machine to several',
      },
      {
        command: 'gateway store migrate --from gateway.yaml --to new.yaml',
        note: 'Passwords stay in the environment',
      },
      {
        command:
          'gateway store migrate --from redis://localhost/?prefix=gateway: --to lmdb:./store',
        note: 'And back',
      },
    ],
    flags: [
      { name: 'from', type: 'string', value: 'STORE', description: 'The store to copy' },
      { name: 'to', type: 'string', value: 'STORE', description: 'Empty target store' },
    ],
    load: () => import('../commands/store/store-migrate.ts'),
  },
] as const;
