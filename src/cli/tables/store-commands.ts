import type { CommandSpec } from '../command.ts';
import { CONFIG } from './shared-words.ts';

/** Commands on the store itself, on the machine of the gateway. */
export const STORE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'store',
    summary: 'Back up, restore, check and move the store',
    examples: [{ command: 'gateway store backup /backup/monday', note: 'While it serves' }],
  },
  {
    name: 'store backup',
    summary: 'Copy the embedded store and its media while it serves',
    description:
      'Copies the lmdb store and the media folder into a new directory, with checksums. What was acknowledged before the command is in it; the master key is not. Other stores are backed up with the tools of their database.',
    examples: [
      {
        command: 'gateway store backup /backup/$(date +%F)',
        note: 'A directory that is not there yet',
      },
    ],
    args: [
      {
        name: 'dir',
        required: true,
        description: 'Directory to make; may be there if it is empty',
      },
    ],
    flags: [CONFIG],
    load: () => import('../commands/store/store-backup.ts'),
  },
  {
    name: 'store restore',
    summary: 'Put the store of a backup into place',
    description:
      'Checks the backup, then puts its store into place in one step and adds its media. Refused while a process has the store open, and where there is a store already unless --replace is given; that store is moved aside and named, never removed.',
    examples: [
      { command: 'gateway store restore /backup/monday', note: 'Where gateway.yaml says' },
      { command: 'gateway store restore /backup/monday --replace', note: 'In place of a store' },
      {
        command: 'gateway store restore /backup/monday --to /tmp/look',
        note: 'As another data directory',
      },
    ],
    args: [{ name: 'dir', required: true, description: 'A directory of `gateway store backup`' }],
    flags: [
      CONFIG,
      {
        name: 'to',
        type: 'string',
        value: 'DIR',
        description: 'Data directory to restore to (default: that of gateway.yaml)',
      },
      { name: 'replace', type: 'boolean', description: 'Move a store that is there aside' },
    ],
    load: () => import('../commands/store/store-restore.ts'),
  },
  {
    name: 'store verify',
    summary: 'Read and check every row of a store or a backup',
    description:
      'Reads and decodes every row, counts them by the first part of their key, and checks the files of a backup against its checksums. Changes nothing. Exits 1 when something is broken, and says where.',
    examples: [
      { command: 'gateway store verify', note: 'The store of gateway.yaml, also while it serves' },
      { command: 'gateway store verify /backup/monday', note: 'A backup' },
      { command: 'gateway store verify lmdb:/srv/gateway/store', note: 'Any store' },
    ],
    args: [
      {
        name: 'what',
        description:
          'A backup, or a store as `store migrate` names it (default: the configured one)',
      },
    ],
    flags: [CONFIG],
    load: () => import('../commands/store/store-verify.ts'),
  },
  {
    name: 'store migrate',
    summary: 'Copy a store to one of another kind',
    description:
      'Copies every row with its version and the time it has left, then reads both stores again and compares counts and checksums. Refused while a gateway uses either, and where the target holds something. A copy that was interrupted starts no gateway; the same command begins it anew. A store is DRIVER:PATH, the URL of its database with the options of the store as parameters, or a gateway.yaml whose store is meant.',
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
      { name: 'to', type: 'string', value: 'STORE', description: 'An empty one' },
    ],
    load: () => import('../commands/store/store-migrate.ts'),
  },
];
