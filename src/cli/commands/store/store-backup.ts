import { resolve } from 'node:path';
import type { ServerConfig } from '../../../config/schema/server-config.ts';
import { backUp } from '../../../store/backends/lmdb/backup/back-up.ts';
import { EMBEDDED } from '../../../store/backends/registry.ts';
import type { CommandResult } from '../../command.ts';
import { CliError } from '../../cli-error.ts';
import { mediaFolder, storeWork, toMiB, withServer } from '../../local/store-work.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'store backup'> = (input) =>
  withServer(input, (server) => backUpServer(server, input));

async function backUpServer(
  server: ServerConfig,
  input: InputOf<'store backup'>,
): Promise<CommandResult> {
  const { context, args } = input;
  assertEmbedded(server);
  const to = resolve(context.io.cwd, args.dir);
  const media = mediaFolder(server);
  if (media === undefined) {
    context.output.warn(
      `media are stored in ${server.media.store.driver} and are not part of the backup`,
    );
  }
  const { clock } = context;
  const store = server.store.path;
  const manifest = await backUp({ ...storeWork(input), store, media, target: to, clock });
  const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0);
  const files = manifest.files.length - 1;
  return {
    data: {
      directory: to,
      created_at: manifest.created_at,
      store: manifest.store,
      media_files: files,
      bytes,
      master_key_included: false,
    },
    text: [
      `${to}: ${manifest.store.rows} rows and ${files} media files, ${toMiB(bytes)} MiB`,
      'The master key is not in it. Keep that elsewhere: without it no secret of the backup can be read.',
    ].join('\n'),
  };
}

function assertEmbedded({ store }: ServerConfig): void {
  const [embedded] = EMBEDDED.drivers;
  if (store.driver === embedded) return;
  throw new CliError({
    code: 'not_embedded',
    message: `the store is ${store.driver}; this command backs up only the embedded one (${embedded})`,
    hint: `use the tools of that database, or copy it: \`gateway store migrate --from gateway.yaml --to ${embedded}:PATH\``,
  });
}
