import { createHash } from 'node:crypto';
import { isJsonObject } from '../core/json/value.ts';
import type { Job } from '../jobs/jobs.ts';
import type { PayingKey } from '../usage/principal.ts';
import type { TaskRecord } from './task-rows.ts';

/** Rules by which the tasks of a family are named, found and charged. */
export interface Identity<R extends TaskRecord> {
  /** Owner of the task's row; no other one finds it. */
  ownerOf(payer: PayingKey): string;
  /** Last part of the key of the row; clients may send an id of any length. */
  keyOf(id: string): string;
  upstreamIdOf(record: R): string;
  /** Id of the charge, and of the job. */
  chargeIdOf(record: R): string;
  toPayload(record: R): Readonly<Record<string, string>>;
  /** Reads what `toPayload` wrote. */
  placeOf(job: Job): { readonly owner: string; readonly id: string };
  /**
   * Closes a task that its provider has lost: `look`: any look does; `job`: only its job, because clients are
   * shown the provider's answers only.
   */
  readonly closedBy: 'look' | 'job';
}

const MAX_ID_CHARS = 64;

/** The gateway names the task, shows its own record of it to the whole organization, and charges by its id. */
export const OWN_ID: Identity<TaskRecord & { readonly upstreamId: string }> = {
  ownerOf: ({ organizationId }) => organizationId,
  keyOf: (id) => id.slice(0, MAX_ID_CHARS),
  upstreamIdOf: ({ upstreamId }) => upstreamId,
  chargeIdOf: ({ id }) => id,
  toPayload: ({ payer }) => ({ organization: payer.organizationId }),
  placeOf: ({ id, payload }) => ({ owner: textAt(payload, 'organization'), id }),
  closedBy: 'look',
};

/** The provider names the task, only the key that created it finds it, and it is charged by the id of its call. */
export const PROVIDER_ID: Identity<TaskRecord & { readonly call: string }> = {
  ownerOf: ({ keyId }) => keyId,
  keyOf: (id) => createHash('sha256').update(id).digest('base64url'),
  upstreamIdOf: ({ id }) => id,
  chargeIdOf: ({ call }) => call,
  toPayload: ({ id, payer }) => ({ key: payer.keyId, id }),
  placeOf: ({ payload }) => ({ owner: textAt(payload, 'key'), id: textAt(payload, 'id') }),
  closedBy: 'job',
};

/** The same, but every key of the organization finds it. */
export const SHARED_ID: typeof PROVIDER_ID = {
  ...PROVIDER_ID,
  ownerOf: OWN_ID.ownerOf,
  toPayload: ({ id, payer }) => ({ organization: payer.organizationId, id }),
  placeOf: ({ payload }) => ({
    owner: textAt(payload, 'organization'),
    id: textAt(payload, 'id'),
  }),
};

/** Id as unique as that of the request, and in the same order. */
export function siblingOf(request: string, prefix: string): string {
  return `${prefix}_${request.slice(request.indexOf('_') + 1)}`;
}

function textAt(payload: unknown, name: string): string {
  return String(isJsonObject(payload) ? payload[name] : undefined);
}
