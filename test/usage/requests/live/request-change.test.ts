import { describe, expect, it } from 'vitest';
import { createIdSource } from '../../../../src/core/ids.ts';
import { RequestChange } from '../../../../src/usage/requests/live/request-change.ts';
import { toEndRow, toStartRow } from '../../../../src/usage/requests/request-row.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { createStarts, outcome } from '../../usage-fixtures.ts';

const NOW = 1_790_000_000_000;
const clock = createFakeClock(NOW);
const request = createStarts(clock)();
const START = toStartRow({ ...request, at: NOW + 3 });
const END = toEndRow(
  START,
  outcome({ totalMs: 20, content: { request: 'secret', response: 'secret' } }),
  true,
);

describe('a change of a request', () => {
  it('began when its id says, and else when its row does', () => {
    expect(new RequestChange(createIdSource(clock).next('req'), START).at).toBe(NOW);
    expect(new RequestChange('req_?', START).at).toBe(NOW + 3);
  });

  it('ended as long after its start as its record says', () => {
    expect(new RequestChange(request.id, START, END).endedAt).toBe(NOW + 23);
  });

  it('has no end in flight, and none where nobody saw it', () => {
    expect(new RequestChange(request.id, START).endedAt).toBe(Infinity);
    const unseen = END.with(12, null) as unknown as typeof END;
    expect(new RequestChange(request.id, START, unseen).endedAt).toBe(Infinity);
  });

  it('is told by a view, once for all who have that one, and without content', () => {
    const change = new RequestChange(request.id, START, END);
    let views = 0;
    const view = (record: object) => {
      views++;
      return record;
    };
    const text = change.text(view);
    expect(JSON.parse(text)).toMatchObject({ id: request.id, status: 200 });
    expect(text).not.toContain('secret');
    expect([change.text(view), views]).toEqual([text, 1]);
    expect(change.text(() => ({ other: true }))).toBe('{"other":true}');
    expect(change.text(view)).toBe(text);
  });

  it('is told as pending while it is in flight', () => {
    const text = new RequestChange(request.id, START).text((record) => record);
    expect(JSON.parse(text)).toMatchObject({ id: request.id, result: 'pending', status: null });
  });
});
