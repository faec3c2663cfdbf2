import { describe, expect, it } from 'vitest';
import {
  errorName,
  ERROR_SCHEMAS,
  list,
  object,
  orNull,
  pageOf,
  schemaRef,
  SCHEMAS,
  words,
} from '../../../src/server/openapi/schemas.ts';
import type { JsonSchema } from '../../../src/server/openapi/schemas.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';

const text = { type: 'string' };
const ajv = createAjv({ validateFormats: false });
ajv.addSchema({ $id: 'api', components: { schemas: SCHEMAS } });

/** True for a value that a schema of the document lets through. */
const fits = (name: string, value: unknown): boolean =>
  ajv.validate({ $ref: `api#/components/schemas/${name}` }, value);
const passes = (schema: JsonSchema, value: unknown): boolean => createAjv().validate(schema, value);

describe('a schema', () => {
  it('of an object needs every member but those that may be missing', () => {
    const schema = object({ a: text, b: text, c: text }, ['b']);
    expect(schema).toMatchObject({ type: 'object', required: ['a', 'c'] });
    expect(passes(schema, { a: '', c: '', else: 1 })).toBe(true);
    for (const value of [{ a: '' }, { a: '', c: 1 }, { a: '', b: 1, c: '' }, [], 'a'])
      expect(passes(schema, value)).toBe(false);
  });

  it('of an object names no needed members where there are none', () => {
    for (const schema of [object({}), object({ a: text }, ['a'])])
      expect(schema).not.toHaveProperty('required');
  });

  it('of a list, a page or a value that may be null is made of that of an item', () => {
    expect(passes(list(text), ['a'])).toBe(true);
    expect(passes(list(text), [1])).toBe(false);
    expect([null, 'a', 1].map((value) => passes(orNull(text), value))).toEqual([true, true, false]);
    const page = pageOf(text);
    for (const next of [null, 'p'])
      expect(passes(page, { data: ['a'], next_page: next })).toBe(true);
    for (const value of [{ data: ['a'] }, { next_page: null }, { data: [1], next_page: null }])
      expect(passes(page, value)).toBe(false);
  });

  it('is named by reference', () => {
    expect(schemaRef('Run')).toEqual({ $ref: '#/components/schemas/Run' });
  });
});

describe('words', () => {
  it('are split at spaces', () => {
    expect(words('a b[c] d')).toEqual(['a', 'b[c]', 'd']);
  });
});

describe('the schemas of operations', () => {
  it('are sound, and name none that there is not', () => {
    for (const name of Object.keys(SCHEMAS))
      expect(() => ajv.compile({ $ref: `api#/components/schemas/${name}` }), name).not.toThrow();
  });

  const window = { limit: null, spent: '0.00' };
  const balance = {
    currency: 'USD',
    balance: '-1.50',
    credit: '0.00',
    spending_limit: null,
    spent: '1.50',
    reserved: '0.00',
    windows: { lifetime: window, month: window, day: window },
  };
  const budget = {
    id: 'bud_1',
    type: 'budget_spending',
    name: 'team',
    organization: null,
    organization_name: null,
    enabled: true,
    per: 'week',
    window_start: null,
    resets_at: null,
    amount: '1.00',
    spent: '0.00',
    reserved: '0.00',
    left: '1.00',
    alerts_at: [50, 80, 100],
  };
  const run = {
    id: 'drun_1',
    type: 'deployment_run',
    deployment_id: 'depl_1',
    agent: null,
    trigger_context: { type: 'manual' },
    session_id: null,
    error: null,
    created_at: '2026-11-21T00:00:00Z',
  };
  const messages = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'a' }] };

  it.each([
    ['Balance', balance],
    ['BudgetSpending', budget],
    ['DeploymentRun', run],
    ['MessagesRequest', messages],
    ['MessagesRequest', { ...messages, temperature: 1, top_p: 0, top_k: 0, system: [] }],
    ['ChatRequest', { model: 'm', messages: [] }],
    ['EmptyBody', {}],
    ['JsonRpcMessages', { jsonrpc: '2.0' }],
    ['JsonRpcMessages', [{ jsonrpc: '2.0', id: 1, method: 'a' }]],
    ['AssetRequest', { url: 'https://a.test', asset_type: 'Audio', name: null }],
    ['RunRequest', {}],
  ])('let through what is sound: %s', (name, value) => {
    expect(fits(name, value)).toBe(true);
  });

  it.each([
    ['Balance', { ...balance, currency: 'EUR' }],
    ['Balance', { ...balance, windows: { lifetime: window, month: window } }],
    ['BudgetSpending', { ...budget, per: 'year' }],
    ['BudgetSpending', { ...budget, left: null }],
    ['DeploymentRun', { ...run, id: 'run_1' }],
    ['DeploymentRun', { ...run, trigger_context: { type: 'webhook' } }],
    ['MessagesRequest', { ...messages, max_tokens: 0 }],
    ['MessagesRequest', { ...messages, temperature: 1.1 }],
    ['MessagesRequest', { ...messages, top_k: -1 }],
    ['MessagesRequest', { ...messages, max_tokens: undefined }],
    ['ChatRequest', { model: '', messages: [] }],
    ['EmptyBody', { a: 1 }],
    ['JsonRpcMessages', { jsonrpc: '1.0' }],
    ['AssetRequest', { url: 'https://a.test', asset_type: 'Text' }],
  ])('refuse what is not: %s %#', (name, value) => {
    expect(fits(name, JSON.parse(JSON.stringify(value)))).toBe(false);
  });

  it.each([
    ['0.00', true],
    ['12.345678901', true],
    ['-0.50', true],
    ['1', false],
    ['1.0', false],
    ['1.0000000001', false],
    ['.50', false],
    ['+1.00', false],
    ['1.00 ', false],
  ])('take %j for money: %s', (amount, isMoney) => {
    expect(fits('Balance', { ...balance, spent: amount })).toBe(isMoney);
  });
});

describe('the schemas of errors', () => {
  it('are named after the shape', () => {
    expect(Object.keys(ERROR_SCHEMAS).map((name) => errorName(name as never))).toEqual([
      'FlatError',
      'ResourceError',
      'ChatError',
      'MessagesError',
      'GoogleError',
    ]);
    expect(errorName({ name: 'dashboard', schema: {}, render: () => ({}) })).toBe('DashboardError');
  });

  it('tell each shape from the flat one', () => {
    expect(passes(ERROR_SCHEMAS.flat, { error: 'a' })).toBe(true);
    for (const name of ['resource', 'chat', 'messages', 'google'] as const)
      expect(passes(ERROR_SCHEMAS[name], { error: 'a' }), name).toBe(false);
  });

  it('need the type around an error of Messages, and not around one of a resource', () => {
    const bare = { error: { type: 'a', message: 'b' } };
    expect(passes(ERROR_SCHEMAS.resource, bare)).toBe(true);
    expect(passes(ERROR_SCHEMAS.messages, bare)).toBe(false);
    for (const name of ['resource', 'messages'] as const) {
      expect(passes(ERROR_SCHEMAS[name], { ...bare, type: 'error' })).toBe(true);
      expect(passes(ERROR_SCHEMAS[name], { ...bare, type: 'fault' })).toBe(false);
    }
  });
});
