import type { KindName } from './kinds.ts';

export interface StaleObject {
  readonly kind: KindName;
  readonly identity: string;
  readonly reason: string;
}

/** Objects that are no longer what the plan was made for; nothing was written. */
export class StalePlanError extends Error {
  override readonly name = 'StalePlanError';
  readonly objects: readonly StaleObject[];

  constructor(objects: readonly StaleObject[]) {
    const told = objects.map(({ kind, identity, reason }) => `${kind} ${identity} (${reason})`);
    super(`the plan is stale: ${told.join(', ')}`);
    this.objects = objects;
  }
}
