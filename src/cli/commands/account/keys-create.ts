import { usageError } from '../../cli-error.ts';
import { oneLine } from '../../../core/printable.ts';
import { readKeyFields } from '../../keys/key-fields.ts';
import { warnOf } from '../../output/warn-of.ts';
import type { RunOf } from '../../commands.ts';

/** Only the value goes to stdout, so that `KEY=$(gateway keys create app)` works. */
export const run: RunOf<'keys create'> = async ({ args, flags, context }) => {
  const name = args.name ?? flags.name;
  if (name === undefined) throw usageError('the key needs a name', 'gateway keys create <name>');
  const organization = flags.organization;
  const body = {
    name,
    ...(organization !== undefined && { organization }),
    ...readKeyFields(flags, context.clock.now()),
  };
  if (context.format === 'yaml') {
    const { declareEntry } = await import('../../write/declare-entry.ts');
    return declareEntry('key', body, context);
  }
  const client = await context.connect();
  const key = await client.admin('keys').create(body, context.signal);
  warnOf(key, context.output);
  context.output.note(`key ${oneLine(key.name)} (${key.id}) created; its value is shown only now`);
  return { data: key, text: String(key['value']) };
};
