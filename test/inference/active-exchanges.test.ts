import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';

function createMember(onShutDown: () => void = () => undefined) {
  return { shutDown: onShutDown };
}

describe('ActiveExchanges', () => {
  it('holds what came and has not left, in whatever order they leave', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 })), (steps) => {
        const active = new ActiveExchanges();
        let ended: number[] = [];
        const members = Array.from({ length: 21 }, (_, i) => createMember(() => ended.push(i)));
        const inside = new Set<number>();
        for (const step of steps) {
          const member = members[step]!;
          if (inside.delete(step)) active.delete(member);
          else {
            inside.add(step);
            active.add(member);
          }
          expect(active.size).toBe(inside.size);
        }
        ended = [];
        active.shutDown();
        expect(ended.toSorted((a, b) => a - b)).toEqual([...inside].toSorted((a, b) => a - b));
      }),
    );
  });

  it('takes no notice of a second coming or leaving', () => {
    const active = new ActiveExchanges();
    const [one, other] = [createMember(), createMember()];
    active.add(one);
    active.add(one);
    active.add(other);
    active.delete(one);
    active.delete(one);
    expect(active.size).toBe(1);
  });

  it('ends all of them although each leaves when it is ended', () => {
    const active = new ActiveExchanges();
    const ended: number[] = [];
    for (const i of [0, 1, 2]) {
      const member = createMember(() => {
        ended.push(i);
        active.delete(member);
      });
      active.add(member);
    }
    active.shutDown();
    expect(ended).toEqual([0, 1, 2]);
    expect(active.size).toBe(0);
  });
});
