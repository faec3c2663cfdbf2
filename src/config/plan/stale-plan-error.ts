import { titleOf } from '../objects/kinds.ts';
import type { KindName } from '../objects/kinds.ts';

export interface StaleObject {
  readonly kind: KindName;
  readonly identity: string;
  readonly reason: string;
}

/** Number of objects that the message names; `objects` has them all. */
const MAX_NAMED = 10;

/** Objects that are no longer what the plan was made for; nothing was written. */
export class StalePlanError extends Error {
  override readonly name = 'StalePlanError';
  readonly objects: readonly StaleObject[];

  constructor(objects: readonly StaleObject[]) {
    const named = objects.slice(0, MAX_NAMED);
    const told = named.map((one) => `${titleOf(one)} (${one.reason})`);
    const rest = objects.length - named.length;
    super(`the plan is stale: ${told.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`);
    this.objects = objects;
  }
}
