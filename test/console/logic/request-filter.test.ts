import { describe, expect, it } from 'vitest';
import type { RequestRow } from '../../../src/console/api/views.ts';
import {
  conversationOf,
  FILTER_FIELDS,
  matches,
  parseFilter,
  toggleTerm,
  toServerQuery,
} from '../../../src/console/logic/request-filter.ts';

const ROW = {
  id: 'req_1',
  created_at: '2026-11-23T10:00:00.000Z',
  key: { id: 'key_1', name: 'Web' },
  surface: 'chat',
  model: 'openai/gpt-5',
  alias: 'fast',
  stream: true,
  status: 429,
  result: 'error',
  error_code: 'rate_limited',
  answered_by: { provider: 'west' },
  cost: '0.0100',
  total_ms: 120,
  conversation: { id: 'conv_1' },
} as unknown as RequestRow;
const meets = (text: string, part: object = {}) => matches({ ...ROW, ...part }, parseFilter(text));

describe('a condition of the filter line', () => {
  it.each([
    ['id:req_1', true],
    ['id:REQ_1', true],
    ['id:req', false],
    ['id:req*', true],
    ['model:fast', true],
    ['model:openai/gpt-5', false],
    ['status:429', true],
    ['status:42', false],
    ['status:4xx', true],
    ['status:4XX', true],
    ['status:5xx', false],
    ['status:6xx', false],
    ['status:>429', false],
    ['status:>=429', true],
    ['status:<429', false],
    ['status:<=429', true],
    ['status:>=428.5', true],
    ['surface:c*t', true],
    ['provider:west', true],
    ['error:rate_limited', true],
    ['ms:>=120', true],
    ['ms:<120', false],
    ['cost:0.01', true],
    ['cost:>0.009', true],
    ['cost:unpriced', false],
    ['conversation:conv_1', true],
    ['stream:true', true],
    ['stream:false', false],
    ['result:ok', false],
    ['-result:ok', true],
    ['-result:error', false],
    ['key:web key:none', false],
    ['WEST', true],
    ['-west', false],
    ['unknown:west', false],
    ['__proto__:west', false],
    ['constructor:west', false],
    ['toString:west', false],
    ['rate_limited', true],
  ])('%s', (text, is) => expect(meets(text)).toBe(is));

  it('is not met by what is not there', () => {
    const none = { cost: null, answered_by: undefined, status: null, total_ms: null };
    expect(meets('cost:unpriced', none)).toBe(true);
    for (const text of ['cost:<=0', 'provider:*', 'status:*', 'ms:>=0'])
      expect(meets(text, none)).toBe(false);
    expect(meets('null', none)).toBe(false);
  });

  it('is met by the model where no alias was asked for', () => {
    expect(meets('model:openai/*', { alias: null })).toBe(true);
  });
});

describe('the words of a filter line', () => {
  it.each([
    ['', []],
    ['  ', []],
    ['-', [['', '-', false]]],
    ['-a', [['', 'a', true]]],
    [
      'key:"my key" b',
      [
        ['key', 'my key', false],
        ['', 'b', false],
      ],
    ],
    ['-key:"my key"', [['key', 'my key', true]]],
    ['"two words"', [['', 'two words', false]]],
    ['key:"open', [['key', 'open', false]]],
    [':a', [['', ':a', false]]],
    ['key:', [['key', '', false]]],
    ['nofield:a', [['', 'nofield:a', false]]],
    ['__proto__:x', [['', '__proto__:x', false]]],
    ['status:>=400', [['status', '>=400', false]]],
    ['key:a:b', [['key', 'a:b', false]]],
  ] as [string, unknown[]][])('are read from %j', (text, terms) => {
    const read = parseFilter(text).map(({ field, value, isExcluded }) => [
      field,
      value,
      isExcluded,
    ]);
    expect(read).toEqual(terms);
  });

  it('name every field that a row has', () => {
    for (const field of FILTER_FIELDS) expect(parseFilter(`${field}:a`)).toMatchObject([{ field }]);
    expect(FILTER_FIELDS).toContain('conversation');
  });

  it('are put in, in place of others, and out', () => {
    expect(toggleTerm('', 'status', '404')).toBe('status:404');
    expect(toggleTerm('a status:404 b', 'status', '404')).toBe('a b');
    expect(toggleTerm('a status:404 b', 'status', '500')).toBe('a b status:500');
    expect(toggleTerm('key:"my key"', 'key', 'my key')).toBe('');
    expect(toggleTerm('-key:a', 'key', 'a')).toBe('-key:a key:a');
  });
});

describe('the query that a server answers', () => {
  it.each([
    ['', {}],
    ['status:404', { status: '404' }],
    ['status:4xx', {}],
    ['status:>=400', {}],
    ['status:40', {}],
    ['-status:404', {}],
    ['result:pending', { status: 'pending' }],
    ['result:ok', { status: 'ok' }],
    ['result:none', {}],
    ['result:o*', {}],
    ['status:', {}],
    ['404', {}],
    ['key:404', {}],
  ])('is made of %j', (text, query) => {
    expect(toServerQuery(parseFilter(text))).toEqual(query);
  });
});

describe('the conversation of a request', () => {
  it.each([
    [{ conversation: 'c' }, 'c'],
    [{ conversation: { id: 'c' } }, 'c'],
    [{ conversation: null, session_id: 's' }, 's'],
    [{ conversation: 'c', session_id: 's' }, 'c'],
    [{}, null],
  ])('of %j is %s', (row, id) => expect(conversationOf(row as RequestRow)).toBe(id));
});
