import { describe, expect, it } from 'vitest';
import { WriteOrder } from '../../../src/config/plan/write-order.ts';

/** Items by name, with what they need: `b<a` needs `a`. */
function orderOf(items: string[], isStrict = false): WriteOrder<string> {
  return new WriteOrder(items, {
    keyOf: (item) => item.split('<')[0] as string,
    needsOf: (item) => item.split('<').slice(1),
    isStrict,
  });
}

describe('WriteOrder', () => {
  it('gives out what waits for nothing, in order', () => {
    const order = orderOf(['a', 'b<a', 'c', 'd<b<a', 'e<elsewhere']);
    expect([order.next(), order.next(), order.next(), order.next()]).toEqual([
      'a',
      'c',
      'e<elsewhere',
      undefined,
    ]);
    order.done('c');
    expect(order.next()).toBeUndefined();
    order.done('a');
    expect([order.next(), order.next()]).toEqual(['b<a', undefined]);
    order.done('b<a');
    expect(order.next()).toBe('d<b<a');
  });

  it('lets none overtake where it is strict', () => {
    const order = orderOf(['a', 'b<a', 'c'], true);
    expect([order.next(), order.next()]).toEqual(['a', undefined]);
    order.done('a');
    expect([order.next(), order.next(), order.next()]).toEqual(['b<a', 'c', undefined]);
  });

  it.each([false, true])('gives out what waits for itself in a circle (strict: %s)', (isStrict) => {
    const order = orderOf(['a<b', 'b<a', 'c'], isStrict);
    const given: string[] = [];
    for (let next = order.next(); next !== undefined; next = order.next()) {
      given.push(next);
      order.done(next);
    }
    expect(given.toSorted()).toEqual(['a<b', 'b<a', 'c']);
  });

  it('asks each item once for what it needs, however many there are', () => {
    let asked = 0;
    const items = Array.from({ length: 1_000 }, (_, i) => `m${i}`);
    const order = new WriteOrder(items, {
      keyOf: (item) => item,
      needsOf: (item) => {
        asked += 1;
        return item === 'm0' ? [] : ['m0'];
      },
      isStrict: false,
    });
    for (let next = order.next(); next !== undefined; next = order.next()) order.done(next);
    expect(asked).toBe(1_000);
  });
});
