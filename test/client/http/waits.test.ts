import { describe, expect, it, vi } from 'vitest';
import { withDeadline } from '../../../src/client/http/deadline.ts';
import { hasStrings, isPageOf, isRecord } from '../../../src/client/http/guards.ts';
import { canGoOn } from '../../../src/client/http/read-on.ts';
import { ClientError } from '../../../src/client/http/client-error.ts';
import { sleep } from '../../../src/client/http/sleep.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

describe('a deadline', () => {
  it('fires when its time is over, not before', () => {
    const clock = createFakeClock();
    const deadline = withDeadline(clock, 1_000, undefined);
    clock.advance(999);
    expect([deadline.signal.aborted, deadline.expired()]).toEqual([false, false]);
    clock.advance(1);
    expect([deadline.signal.aborted, deadline.expired()]).toEqual([true, true]);
  });

  it('fires with the signal of its caller, and has not expired then', () => {
    const caller = new AbortController();
    const deadline = withDeadline(createFakeClock(), 1_000, caller.signal);
    caller.abort();
    expect([deadline.signal.aborted, deadline.expired()]).toEqual([true, false]);
  });

  it('goes on to follow its caller once its time was stopped', () => {
    const clock = createFakeClock();
    const caller = new AbortController();
    const deadline = withDeadline(clock, 1_000, caller.signal);
    deadline.clear();
    clock.advance(5_000);
    expect([deadline.signal.aborted, deadline.expired()]).toEqual([false, false]);
    caller.abort();
    expect(deadline.signal.aborted).toBe(true);
  });
});

describe('a pause', () => {
  it('takes its time, and leaves no listener behind', async () => {
    const clock = createFakeClock();
    const caller = new AbortController();
    const removed = vi.spyOn(caller.signal, 'removeEventListener');
    let isOver = false;
    const pause = sleep(clock, 1_000, caller.signal).then(() => void (isOver = true));
    clock.advance(999);
    await Promise.resolve();
    expect(isOver).toBe(false);
    clock.advance(1);
    await pause;
    expect(removed).toHaveBeenCalledOnce();
  });

  it('ends with its signal, before it and within it', async () => {
    const clock = createFakeClock();
    await expect(sleep(clock, 1_000, AbortSignal.abort())).rejects.toMatchObject({
      code: 'aborted',
    });
    const caller = new AbortController();
    const pause = sleep(clock, 1_000, caller.signal);
    caller.abort();
    await expect(pause).rejects.toMatchObject({ code: 'aborted', message: 'interrupted' });
  });
});

describe('another try', () => {
  const error = (code: string, status?: number) => new ClientError({ code, status, message: 'm' });

  it.each([
    ['a lost connection', error('connection_lost'), true],
    ['a server that is not there', error('unreachable'), true],
    ['a server that fails', error('http_500', 500), true],
    ['a server that is full', error('rate_limited', 429), true],
    ['a client that left', error('aborted'), false],
    ['a refusal', error('not_found', 404), false],
    ['a conflict', error('conflict', 409), false],
    ['a bug', new TypeError('bug'), false],
  ])('may succeed behind %s: %s', (_, thrown, may) => {
    expect(canGoOn(thrown)).toBe(may);
  });
});

describe('the shape of an answer', () => {
  const isNamed = hasStrings<{ id: string; name: string }>('id', 'name');

  it('has its texts, whatever else there is', () => {
    expect(isNamed({ id: '', name: 'n', more: [1] })).toBe(true);
    for (const value of [{ id: 'i' }, { id: 1, name: 'n' }, { id: null, name: 'n' }, [], null, 'x'])
      expect(isNamed(value)).toBe(false);
  });

  it('is a page of items that all have theirs', () => {
    const isPage = isPageOf(isNamed);
    expect(isPage({ data: [] })).toBe(true);
    expect(isPage({ data: [{ id: 'i', name: 'n' }], next_page: 'p' })).toBe(true);
    for (const value of [{}, { data: {} }, { data: [{ id: 'i' }] }, [{ id: 'i', name: 'n' }], null])
      expect(isPage(value)).toBe(false);
  });

  it.each([
    [{}, true],
    [Object.create(null), true],
    [[], false],
    [null, false],
    [undefined, false],
    ['', false],
  ])('is a record or not: %j', (value, is) => {
    expect(isRecord(value)).toBe(is);
  });
});
