import { describe, expect, it } from 'vitest';
import { collect } from '../../src/client/http/pages.ts';
import { connect, streamOf, testCalls, testLists, without } from './support.ts';

const BALANCE = { currency: 'USD', balance: '1', credit: '3', spent: '2', spending_limit: null };
const BUDGET = { id: 'b1', name: 'b', per: 'month', amount: '9', spent: '1', left: '8' };
const ROW = { requests: 2, errors: 0, cost: null };
const EXECUTION = { id: 'e1', created_at: '2026-11-21T10:00:00Z' };

describe('account', () => {
  testCalls([
    {
      name: 'balance',
      call: ({ account }, signal) => account.balance(signal),
      method: 'GET',
      target: '/v1/account/balance',
      answer: BALANCE,
      refused: without(BALANCE, 'currency', 'balance', 'credit', 'spent'),
    },
    {
      name: 'budgets',
      call: ({ account }, signal) => account.budgets(signal),
      method: 'GET',
      target: '/v1/account/budgets',
      answer: { data: [BUDGET] },
      gives: [BUDGET],
      refused: [{ data: [{ id: 'b1' }] }],
    },
    {
      name: 'usage',
      call: ({ account }, signal) =>
        account.usage({ groupBy: ['model', 'day'], conversation: 'c' }, signal),
      method: 'GET',
      target: '/v1/account/usage?group_by=model%2Cday&conversation=c',
      answer: { data: [ROW] },
      gives: { rows: [ROW], forecast: null },
      refused: [{ data: [{}] }],
    },
  ]);

  testLists([
    {
      name: 'executions',
      call: ({ account }, signal) => account.executions({ model: 'm', limit: 1 }, signal),
      targets: [
        '/v1/account/executions?model=m&limit=1',
        '/v1/account/executions?model=m&limit=1&page=p+2',
      ],
      item: EXECUTION,
      refused: without(EXECUTION, 'id', 'created_at'),
    },
  ]);

  const rows = (items: unknown[]) =>
    new Response(streamOf([`id: 7\nevent: requests\ndata: ${JSON.stringify(items)}\n\n`]));

  it('follows executions behind a place', async () => {
    const { client, sent } = connect([rows([EXECUTION])]);
    const events = client.account.followExecutions({ status: 'ok' }, { after: '6' });
    expect(await collect(events)).toEqual([{ type: 'rows', rows: [EXECUTION], after: '7' }]);
    expect(sent).toMatchObject([
      {
        target: '/v1/account/executions/events?status=ok',
        headers: { accept: 'text/event-stream', 'last-event-id': '6' },
      },
    ]);
  });

  it('follows no executions of another shape', async () => {
    for (const row of without(EXECUTION, 'id', 'created_at')) {
      const { client } = connect([rows([row])]);
      const events = collect(client.account.followExecutions());
      await expect(events).rejects.toMatchObject({ code: 'invalid_response' });
    }
  });
});
