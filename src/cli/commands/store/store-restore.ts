import { join, resolve } from 'node:path';
import { restore } from '../../../store/backends/lmdb/backup/restore.ts';
import { EMBEDDED } from '../../../store/backends/registry.ts';
import type { CommandResult } from '../../command.ts';
import { CliError } from '../../cli-error.ts';
import { mediaFolder, storeWork, withServer } from '../../local/store-work.ts';
import type { InputOf, RunOf } from '../../commands.ts';

interface Place {
  readonly store: string;
  readonly media: string;
}

export const run: RunOf<'store restore'> = (input) => {
  const to = input.flags.to;
  if (to !== undefined) {
    const dataDir = resolve(input.context.io.cwd, to);
    return restoreTo({ store: join(dataDir, 'store'), media: join(dataDir, 'media') }, input);
  }
  return withServer(input, async (server) => {
    const { driver, path: store } = server.store;
    const [embedded] = EMBEDDED.drivers;
    if (driver === embedded) {
      const media = mediaFolder(server) ?? join(server.dataDir, 'media');
      return restoreTo({ store, media }, input);
    }
    throw new CliError({
      code: 'not_embedded',
      message: `the configured store is ${driver}, but backups are of the embedded store (${embedded})`,
      hint: `restore it with --to DIR and copy that: \`gateway store migrate --from ${embedded}:DIR/store --to gateway.yaml\``,
    });
  });
};

async function restoreTo(
  { store, media }: Place,
  input: InputOf<'store restore'>,
): Promise<CommandResult> {
  const { args, flags, context } = input;
  const from = resolve(context.io.cwd, args.dir);
  const replace = flags.replace;
  const work = storeWork(input);
  const options = { ...work, from, store, media, replace, clock: context.clock };
  const { manifest, formerStore } = await restore(options);
  const files = manifest.files.length - 1;
  const told = [
    `${store}: ${manifest.store.rows} rows as of ${manifest.created_at}, and ${files} media files in ${media}`,
    ...(formerStore === undefined ? [] : [`The former store lies in ${formerStore}`]),
    'It needs the master key that it was made with. No backup has an admin key: `gateway store admin-key` makes one.',
  ];
  return {
    data: {
      store,
      media,
      created_at: manifest.created_at,
      identity: manifest.store.identity,
      rows: manifest.store.rows,
      media_files: files,
      former_store: formerStore ?? null,
    },
    text: told.join('\n'),
  };
}
