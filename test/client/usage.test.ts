import { describe, expect, it } from 'vitest';
import { toReport } from '../../src/client/usage.ts';
import { testCalls, without } from './support.ts';

const ROW = { requests: 2, errors: 0, cost: '1.5' };
const FORECAST = { month: '2026-11', spent: '1', cost: '2' };
const BUDGET = { id: 'b1', name: 'b', per: 'month', amount: '9', spent: '1', left: '8' };
const LACKING = without(BUDGET, 'id', 'name', 'per', 'amount', 'spent', 'left');
const SPENDING = {
  spent: { lifetime: '3', month: '2', day: '1' },
  reserved: '0',
  last_used_at: null,
  last_used_on: '2026-11-21',
};

describe('usage', () => {
  testCalls([
    {
      name: 'budgets',
      call: ({ usage }, signal) => usage.budgets(signal),
      method: 'GET',
      target: '/admin/v1/spending/budgets',
      answer: { data: [BUDGET] },
      gives: [BUDGET],
      refused: LACKING.map((budget) => ({ data: [BUDGET, budget] })),
    },
    {
      name: 'spending of a key',
      call: ({ usage }, signal) => usage.spending({ key: 'k/1' }, signal),
      method: 'GET',
      target: '/admin/v1/spending?key=k%2F1',
      answer: { ...SPENDING, beside: 'more' },
      gives: SPENDING,
      refused: [{}, { ...SPENDING, spent: '3' }],
    },
    {
      name: 'spending of an organization',
      call: ({ usage }, signal) => usage.spending({ organization: 'o1' }, signal),
      method: 'GET',
      target: '/admin/v1/spending?organization=o1',
      answer: SPENDING,
      refused: [{}],
    },
    {
      name: 'report',
      call: ({ usage }, signal) =>
        usage.report({ groupBy: ['key', 'label:a'], month: '2026-11', limit: 5 }, signal),
      method: 'GET',
      target: '/admin/v1/usage?group_by=key%2Clabel%3Aa&month=2026-11&limit=5',
      answer: { data: [ROW, { ...ROW, cost: null }], forecast: FORECAST },
      gives: { rows: [ROW, { ...ROW, cost: null }], forecast: FORECAST },
      refused: [{}, { data: [null] }, { data: [{ ...ROW, cost: 1 }] }, { data: [{ cost: true }] }],
    },
  ]);

  it('reads the answer of an older gateway, which has no forecast', () => {
    expect(toReport({ data: [] })).toEqual({ rows: [], forecast: null });
  });
});
