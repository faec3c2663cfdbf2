import { oneLine } from '../../../core/printable.ts';
import { findResource } from '../../resources/find-resource.ts';
import { readSecretValue } from '../../input/secret-value.ts';
import type { RunOf } from '../../commands.ts';

/** Only a new value that the gateway made goes to stdout, so that `KEY=$(gateway keys rotate app)` works. */
export const run: RunOf<'keys rotate'> = async ({ args, flags, context }) => {
  const client = await context.connect();
  const keys = client.admin('keys');
  const sought = { kind: 'keys', named: args.id } as const;
  const { id } = await findResource(client, sought, context.signal);
  const end = flags.end;
  const { 'value-file': file, 'value-env': variable, 'value-stdin': isStdin } = flags;
  const isGiven = isStdin || file !== undefined || variable !== undefined;
  const value = isGiven ? await readSecretValue(flags, context) : undefined;
  const body = {
    overlap: `${flags.overlap}ms`,
    ...(end !== undefined && { end }),
    ...(value !== undefined && { value }),
  };
  const key = await keys.below(id).post('rotate', { json: body }, context.signal);
  const until = key['former_until'];
  const former =
    typeof until === 'string'
      ? `the former value ${String(key['former_hint'])} works until ${until}`
      : 'no former value works any more';
  const title = `key ${oneLine(String(key['name']))} (${id}) rotated`;
  // A value that was given is not repeated: the log of a pipeline must not hold it.
  if (isGiven) {
    const { value: _given, ...data } = key;
    return { data, text: `${title}; ${former}` };
  }
  context.output.note(`${title}; ${former}; the new value is shown only now`);
  return { data: key, text: String(key['value']) };
};
