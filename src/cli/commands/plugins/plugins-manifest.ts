import { resolve } from 'node:path';
import { writeManifest } from '../../plugins/write-manifest.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plugins manifest'> = async ({ args, context }) => {
  const { path, version, commands } = await writeManifest(resolve(context.io.cwd, args.dir ?? '.'));
  const names = commands.map(({ name }) => name);
  return { data: { path, version, commands: names }, text: `wrote ${path}: ${names.join(', ')}` };
};
