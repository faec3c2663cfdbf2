import { expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import type { ModelType } from '../../../src/core/model-type.ts';
import { withBound } from '../../../src/inference/admission/call-bound.ts';
import { verifies } from '../../requirements.ts';
import { principal } from '../../usage/usage-fixtures.ts';

const REFUSAL = new GatewayError('organization_spending_limit', {
  limit: {
    owner: 'organization',
    id: 'org_1',
    name: null,
    unit: 'money',
    per: 'day',
    most: 5,
    used: 0,
    held: 0,
    needed: 6,
    freeAt: null,
  },
});

it.each<[ModelType, object | undefined]>([
  ['llm', { input: 7, output: 16, from: 'default' }],
  ['embedding', undefined],
  ['image', undefined],
  ['video', undefined],
  ['audio', undefined],
])(
  verifies(
    'limits.refusal.reason',
    'a refusal names tokens of an answer for models that write: %s',
  ),
  (type, bound) => {
    const model = { type };
    const peek = { inputBound: 7, choices: 1 };
    const call = { peek, model, request: { principal: principal() } };
    const planned = { call, plan: { candidates: [{ model }] } };
    const found = withBound(REFUSAL, planned as unknown as Parameters<typeof withBound>[1], 16);
    expect((found as GatewayError).limit?.bound).toEqual(bound);
  },
);
