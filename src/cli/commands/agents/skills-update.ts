import { resolve } from 'node:path';
import type { CommandRun } from '../../command.ts';
import { findResource } from '../../resources/find-resource.ts';
import { toSkillForm } from '../../input/skill-folder.ts';

export const run: CommandRun = async ({ args, context }) => {
  const form = await toSkillForm(resolve(context.io.cwd, args['folder'] ?? ''));
  const client = await context.connect();
  const admin = client.admin('skills');
  const { id, name } = await findResource(
    client,
    { kind: 'skills', named: args['id'] ?? '' },
    context.signal,
  );
  const version = await admin.below(id).post('versions', { form }, context.signal);
  return { data: version, text: `skill ${name} (${id}) has the version ${version.id}` };
};
