import { addSpending, toSpendingRows } from '../../details/spending-rows.ts';
import { findResource } from '../../resources/find-resource.ts';
import { getResource } from '../../resources/get-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'keys get'> = (input) => {
  const { args, context } = input;
  const sought = { kind: 'keys', named: args.id } as const;
  return getResource(
    input,
    { ...sought, toRows: (key) => toRotationRow(toSpendingRows(key), context.clock.now()) },
    async (client, signal) => {
      const key = await findResource(client, sought, signal);
      return addSpending(client, key, { kind: 'key', signal });
    },
  );
};

/** `sk-ab…cd works until …` in place of the members of a rotation. */
function toRotationRow(
  { former_hint: hint, former_until: until, ...rest }: Readonly<Record<string, unknown>>,
  now: number,
): Record<string, unknown> {
  if (typeof until !== 'string') return rest;
  const isOver = typeof rest['revoked_at'] === 'string' || Date.parse(until) <= now;
  const text = isOver ? 'works no longer' : `works until ${until}`;
  return { ...rest, former_value: `${String(hint)} ${text}` };
}
