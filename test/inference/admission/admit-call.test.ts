import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { admitCall } from '../../../src/inference/admission/admit-call.ts';
import type { PlannedCall } from '../../../src/inference/admission/admit-call.ts';
import type { Downgrade } from '../../../src/usage/ledger/ledger.ts';

/** Output tokens of a request that names no limit. */
const USUAL = 16_384;
const REFUSAL = new GatewayError('key_spending_limit');

interface Refused {
  readonly id: string;
  readonly downgradeTo?: string;
}

/** A call of a model that a budget refuses, or that is let in. */
function call(model: string, refusedBy?: Refused, refusal = REFUSAL): PlannedCall {
  const admitted = refusedBy ? Promise.reject(refusal) : undefined;
  admitted?.catch(() => undefined);
  return { call: { model, entry: { admitted, refusedBy } } } as unknown as PlannedCall;
}

/** Begins again at each of these in turn, and keeps what it was asked for. */
function beginning(...next: (PlannedCall | undefined)[]) {
  const asked: Downgrade[] = [];
  const begin = async (to: Downgrade) => {
    asked.push(to);
    return next.shift();
  };
  return { asked, begin };
}

describe('a call under budgets', () => {
  it('is let in where no budget refuses it', async () => {
    const first = call('a');
    const { asked, begin } = beginning();
    expect(await admitCall(first, begin, USUAL)).toBe(first);
    expect(asked).toEqual([]);
  });

  it('goes to one model after the other, and spares the budgets that led there', async () => {
    const last = call('c');
    const { asked, begin } = beginning(call('b', { id: 'budget_2', downgradeTo: 'c' }), last);
    const first = call('a', { id: 'budget_1', downgradeTo: 'b' });
    expect(await admitCall(first, begin, USUAL)).toBe(last);
    expect(asked).toEqual([
      { model: 'b', spared: new Set(['budget_1']) },
      { model: 'c', spared: new Set(['budget_1', 'budget_2']) },
    ]);
  });

  it.each<[string, Refused]>([
    ['has no other model', { id: 'budget_1' }],
    ['is not a budget', {} as Refused],
  ])('is refused where what refuses it %s', async (_, refusedBy) => {
    const { asked, begin } = beginning(call('b'));
    await expect(admitCall(call('a', refusedBy), begin, USUAL)).rejects.toBe(REFUSAL);
    expect(asked).toEqual([]);
  });

  it('is refused by a budget that led it on before', async () => {
    const second = new GatewayError('key_spending_limit');
    const again = { id: 'budget_1', downgradeTo: 'b' };
    const { asked, begin } = beginning(call('b', again, second), call('b'));
    await expect(admitCall(call('a', again), begin, USUAL)).rejects.toBe(second);
    expect(asked).toHaveLength(1);
  });

  it('is refused where the other model cannot answer', async () => {
    const { begin } = beginning(undefined);
    const first = call('a', { id: 'budget_1', downgradeTo: 'b' });
    await expect(admitCall(first, begin, USUAL)).rejects.toBe(REFUSAL);
  });
});
