import { open } from 'lmdb';
import { migrate, type MetaTable } from '../../../src/store/backends/lmdb/migrations.ts';

/** `node killed-migration.ts <path>` dies when the steps are taken and nothing is committed. */
const [path = ''] = process.argv.slice(2);
const root = open({ path, noSubdir: false, overlappingSync: false });
const meta: MetaTable = root.openDB('meta', {
  encoding: 'json',
  keyEncoding: 'ordered-binary',
});
root.transactionSync(() => {
  migrate(meta);
  if (meta.get('identity') === undefined) throw new Error('no step was taken');
  process.kill(process.pid, 'SIGKILL');
});
