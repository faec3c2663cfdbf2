import { oneLine } from '../../../core/printable.ts';
import { findResource } from '../../resources/find-resource.ts';
import type { RunOf } from '../../commands.ts';

/** Only the new value goes to stdout, so that `KEY=$(gateway keys rotate app)` works. */
export const run: RunOf<'keys rotate'> = async ({ args, flags, context }) => {
  const client = await context.connect();
  const keys = client.admin('keys');
  const sought = { kind: 'keys', named: args.id } as const;
  const { id } = await findResource(client, sought, context.signal);
  const end = flags.end;
  const body = { overlap: `${flags.overlap}ms`, ...(end !== undefined && { end }) };
  const key = await keys.below(id).post('rotate', { json: body }, context.signal);
  const until = key['former_until'];
  const former =
    typeof until === 'string'
      ? `the former value ${String(key['former_hint'])} works until ${until}`
      : 'no former value works any more';
  context.output.note(
    `key ${oneLine(String(key['name']))} (${id}) rotated; ${former}; the new value is shown only now`,
  );
  return { data: key, text: String(key['value']) };
};
