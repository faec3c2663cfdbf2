import { resolve } from 'node:path';
import type { CommandRun } from '../../command.ts';
import { writeManifest } from '../../plugins/write-manifest.ts';

export const run: CommandRun = async ({ args, context }) => {
  const { path, version, commands } = await writeManifest(
    resolve(context.io.cwd, args['dir'] ?? '.'),
  );
  const names = commands.map(({ name }) => name);
  return { data: { path, version, commands: names }, text: `wrote ${path}: ${names.join(', ')}` };
};
