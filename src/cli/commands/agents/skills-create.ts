import { resolve } from 'node:path';
import { oneLine } from '../../../core/printable.ts';
import { toSkillForm } from '../../input/skill-folder.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'skills create'> = async ({ args, flags, context }) => {
  if (context.format === 'yaml') {
    const { declareSkill } = await import('../../write/declare-skill.ts');
    const display_name = flags['display-name'];
    const fields = { display_name, organization: flags.organization };
    return declareSkill(resolve(context.io.cwd, args.folder), fields, context);
  }
  const form = await toSkillForm(resolve(context.io.cwd, args.folder));
  for (const [field, flag] of [
    ['display_name', 'display-name'],
    ['organization', 'organization'],
  ] as const) {
    const value = flags[flag];
    if (value !== undefined) form.append(field, value);
  }
  const client = await context.connect();
  const made = await client.admin('skills').upload(form, context.signal);
  const version = String(made['latest_version_id']);
  return {
    data: made,
    text: `skill ${oneLine(made.name)} (${made.id}) created, version ${version}`,
  };
};
