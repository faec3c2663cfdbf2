import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../src/server/idempotency/row.ts';
import type { CallPlace } from '../../../src/server/idempotency/row.ts';

const PLACE: CallPlace = {
  organization: 'org_1',
  key: 'key_1',
  path: '/v1/agents',
  name: 'a',
  keepMs: 1_000,
};

describe('the place of a named call in the store', () => {
  it('is the same for every version of the gateway', () => {
    const digest = '_vMxSHd7ZGyeegu6StIzv3M8Ql9oiyYAkW7SgQD9v44';
    expect(keyOf(PLACE)).toEqual(['idempotency', 'org_1', digest]);
  });

  it.each<Partial<CallPlace>>([
    { organization: 'org_2' },
    { key: 'key_2' },
    { path: '/v1/skills' },
    { name: 'b' },
  ])('is another with %j', (changes) => {
    expect(keyOf({ ...PLACE, ...changes })).not.toEqual(keyOf(PLACE));
  });

  it('is the same however long its answer is kept', () => {
    expect(keyOf({ ...PLACE, keepMs: 2_000 })).toEqual(keyOf(PLACE));
  });

  it('is below the name where calls alike share it', () => {
    expect(keyOf({ ...PLACE, call: 'req_1' })).toEqual([...keyOf(PLACE), 'req_1']);
  });

  it('tells apart what reads the same when it is joined', () => {
    const [one, other] = [
      { key: 'a', path: 'b', name: 'cd' },
      { key: 'a', path: 'bc', name: 'd' },
    ];
    expect(keyOf({ ...PLACE, ...one })).not.toEqual(keyOf({ ...PLACE, ...other }));
  });

  it('is no longer for a long name', () => {
    const [, , digest] = keyOf({ ...PLACE, name: 'n'.repeat(5_000) });
    expect(digest).toMatch(/^[\w-]{43}$/);
  });
});
