import { expect, it, vi } from 'vitest';
import { lazy, once } from '../../src/core/lazy.ts';

it('loads at the first call, once for all who ask', async () => {
  const load = vi.fn(async () => ({ part: 1 }));
  const part = lazy('a part', load);
  expect(load).not.toHaveBeenCalled();
  const [one, two] = await Promise.all([part(), part()]);
  expect(one).toBe(two);
  expect(await part()).toBe(one);
  expect(load).toHaveBeenCalledTimes(1);
});

it('names the part that cannot be loaded, and tries again for the next who asks', async () => {
  const load = vi.fn(async () => 'loaded').mockRejectedValueOnce(new Error('no such file'));
  const part = lazy('agents', load);
  await expect(part()).rejects.toThrow('agents cannot be loaded: no such file');
  expect(await part()).toBe('loaded');
  expect(load).toHaveBeenCalledTimes(2);
});

it('tells what has begun, without beginning', async () => {
  const load = vi.fn(async () => 'loaded');
  const part = lazy('a part', load);
  expect(await part.begun()).toBeUndefined();
  expect(load).not.toHaveBeenCalled();
  void part();
  expect(await part.begun()).toBe('loaded');
});

it('takes a failed load for none', async () => {
  const part = lazy('a part', () => Promise.reject(new Error('no')));
  const failed = part();
  expect(await part.begun()).toBeUndefined();
  await expect(failed).rejects.toThrow('a part cannot be loaded: no');
});

it('makes a value at the first call, once', () => {
  const make = vi.fn(() => undefined);
  const value = once(make);
  expect(make).not.toHaveBeenCalled();
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(make).toHaveBeenCalledTimes(1);
});
