import { resolve } from 'node:path';
import { usageError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import { findResource } from '../../resources/find-resource.ts';
import { getResource } from '../../resources/get-resource.ts';
import { readBytes } from '../../input/read-bytes.ts';
import { writeSkillFolder } from '../../input/skill-folder.ts';
import { skipMissing } from '../../resources/not-found.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'skills get'> = (input) => {
  const { flags, args } = input;
  if (flags.out !== undefined) return unpack(input, flags.out);
  if (flags.at !== undefined) throw usageError('--at needs --out');
  const sought = { kind: 'skills', named: args.id } as const;
  return getResource(input, sought, (client, signal) => findResource(client, sought, signal));
};

function unpack(
  { args, flags, context }: InputOf<'skills get'>,
  out: string,
): Promise<CommandResult> {
  return skipMissing(flags, async () => {
    const { signal } = context;
    const client = await context.connect();
    const sought = { kind: 'skills', named: args.id } as const;
    const found = await findResource(client, sought, signal);
    const version = flags.at ?? String(found['latest_version_id']);
    const path = `versions/${encodeURIComponent(version)}/content`;
    const archive = await readBytes(
      await client.admin('skills').below(found.id).bytes(path, signal),
    );
    const folder = resolve(context.io.cwd, out);
    const files = await writeSkillFolder(archive, folder);
    return {
      data: { id: found.id, version, folder, files },
      text: `skill ${found.name} (${found.id}), version ${version}, is in ${folder}`,
    };
  });
}
