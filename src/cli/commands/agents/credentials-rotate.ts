import { findResource } from '../../resources/find-resource.ts';
import { readSecretValue } from '../../input/secret-value.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'credentials rotate'> = async ({ args, flags, context }) => {
  const value = await readSecretValue(flags, context);
  const client = await context.connect();
  const admin = client.admin('credentials');
  const { id, name } = await findResource(
    client,
    { kind: 'credentials', named: args.id },
    context.signal,
  );
  const rotated = await admin.below(id).post('rotate', { json: { value } }, context.signal);
  return {
    data: rotated,
    text: `credential ${name} (${id}) rotated: ${String(rotated['value_hint'])}`,
  };
};
