import { titleOf } from '../../config/objects/kinds.ts';
import { type ActualState, findDeclared, type View } from '../../config/actual/actual.ts';
import type { DesiredState } from '../../config/objects/desired.ts';
import type { KindName } from '../../config/objects/kinds.ts';

export interface GoneObject {
  readonly kind: KindName;
  readonly identity: string;
}

/** Declared objects that there are not, or that have ended: revoked keys, archived Agents. */
export function alreadyGone({ objects }: DesiredState, actual: ActualState): GoneObject[] {
  return objects
    .filter((object) => findDeclared(object, actual).every(hasEnded))
    .map(({ kind, identity }) => ({ kind, identity }));
}

/** One line for each, before the other lines. */
export function withGone(gone: readonly GoneObject[], text: string): string {
  const lines = gone.map((one) => `already gone ${titleOf(one)}`);
  return [...lines, text].join('\n');
}

function hasEnded(view: View): boolean {
  return [view['revoked_at'], view['archived_at']].some((at) => typeof at === 'string');
}
