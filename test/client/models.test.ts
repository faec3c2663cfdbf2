import { describe } from 'vitest';
import { testCalls, without } from './support.ts';

const ITEM = { id: 'm1', object: 'model', created: 1, owned_by: 'acme' };
const LINE = { provider: 'p', upstream_model: 'u', why: 'cheapest' };
const PLAN = { model: 'm1', protocol: 'chat', candidates: [LINE], left_out: [LINE] };
const pageOf = (items: unknown[]) => items.map((item) => ({ data: [item] }));

describe('models', () => {
  testCalls([
    {
      name: 'list',
      call: ({ models }, signal) => models.list({ type: '', q: 'a b' }, signal),
      method: 'GET',
      target: '/v1/models?type=&q=a+b',
      answer: { data: [ITEM] },
      gives: [ITEM],
      refused: pageOf(without(ITEM, 'id', 'object')),
    },
    {
      name: 'table',
      call: ({ models }, signal) => models.table({ vendor: 'acme' }, signal),
      method: 'GET',
      target: '/v1/models?vendor=acme&details=true',
      answer: { data: [ITEM] },
      gives: { models: [ITEM], open: [] },
      refused: pageOf(without(ITEM, 'id', 'object')),
    },
    {
      name: 'get',
      call: ({ models }, signal) => models.get('acme/m 1', signal),
      method: 'GET',
      target: '/v1/models/acme%2Fm%201',
      answer: ITEM,
      refused: without(ITEM, 'id', 'object'),
    },
    {
      name: 'explain',
      call: ({ models }, signal) => models.explain({ model: 'm1', protocol: 'chat' }, signal),
      method: 'GET',
      target: '/admin/v1/routing?model=m1&protocol=chat',
      answer: PLAN,
      refused: [
        ...without(PLAN, 'model', 'protocol', 'candidates', 'left_out'),
        ...without(LINE, 'provider', 'upstream_model', 'why').flatMap((line) => [
          { ...PLAN, candidates: [line] },
          { ...PLAN, left_out: [LINE, line] },
        ]),
      ],
    },
  ]);
});
