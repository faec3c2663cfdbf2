import type { Rights } from '../../../src/core/access.ts';
import type { CallPlace } from '../../../src/server/idempotency/row.ts';

/** Place of a named call whose answer is kept for so many milliseconds. */
export const placeOf = (keepMs: number): CallPlace => ({
  organization: 'org_1',
  key: 'key_1',
  path: '/v1/agents',
  name: 'a',
  keepMs,
});

export const RIGHTS: Rights = { scopes: null, role: null };
