import { resolve } from 'node:path';
import { oneLine } from '../../../core/printable.ts';
import { findResource } from '../../resources/find-resource.ts';
import { toSkillForm } from '../../input/skill-folder.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import { refuseOwnedBy } from '../../resources/refuse-owned.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'skills update'> = async (input) => {
  const { args, flags, context } = input;
  const folder = resolve(context.io.cwd, args.folder);
  if (context.format === 'yaml') {
    const { declareSkillUpdate } = await import('../../write/declare-skill.ts');
    return declareSkillUpdate(folder, input);
  }
  const form = await toSkillForm(folder);
  const client = await context.connect();
  const admin = client.admin('skills');
  const sought = { kind: 'skills', named: args.id } as const;
  const found = await findResource(client, sought, context.signal);
  const { id, name } = found;
  await refuseOwnedBy(toResourceClient(client), found, {
    called: `Skill ${oneLine(name)} (${id})`,
    force: flags.force,
  });
  const version = await admin.below(id).post('versions', { form }, context.signal);
  return { data: version, text: `skill ${name} (${id}) has the version ${version.id}` };
};
