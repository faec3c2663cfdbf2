import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import { objectKey } from '../objects/object-refs.ts';
import type { Plan } from './plan.ts';

/** Reason for which a declared object stays as it is. */
export interface Obstacle {
  readonly object: DesiredObject;
  readonly message: string;
  /** Next step for the user, one line. */
  readonly hint: string;
}

/** Next steps by the member of a plan that holds the reason. */
export const WAYS_OUT = {
  ambiguous: 'add the `id:` of the intended object beside its name, or remove the others',
  lost: 'remove `id` to create it again, or give the id of the intended object',
  conflicts: 'rename it here, or delete the other one',
} as const satisfies Partial<Record<keyof Plan, string>>;

/** Declared objects that no apply of the plan makes as declared, each with the reason. */
export function obstaclesOf(plan: Plan, { objects }: Pick<DesiredState, 'objects'>): Obstacle[] {
  const declared = new Map(objects.map((one) => [objectKey(one.kind, one.identity), one]));
  const told = <K extends keyof typeof WAYS_OUT>(
    member: K,
    messageOf: (entry: Plan[K][number]) => string,
  ): Obstacle[] =>
    plan[member].flatMap((entry: Plan[K][number]) => {
      const object = declared.get(objectKey(entry.kind, entry.identity));
      return object ? [{ object, message: messageOf(entry), hint: WAYS_OUT[member] }] : [];
    });
  return [
    ...told('conflicts', ({ id, owner }) => `exists already as ${id} and belongs to ${owner}`),
    ...told('ambiguous', ({ ids }) => `matches several objects: ${ids.join(', ')}`),
    ...told('lost', ({ id }) => `is pinned to the id ${id}, which nothing has`),
    ...plan.fixed.flatMap(({ kind, identity, reason: message, hint }) => {
      const object = declared.get(objectKey(kind, identity));
      return object ? [{ object, message, hint }] : [];
    }),
  ];
}
