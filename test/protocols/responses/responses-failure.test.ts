import { expect, it } from 'vitest';
import { toResponsesFailure } from '../../../src/protocols/responses/responses-failure.ts';

it('gives codes that no provider documents no status', () => {
  for (const code of ['constructor', 'toString', '__proto__', 'something_else'])
    expect(toResponsesFailure({ code, message: 'no' })).not.toHaveProperty('status');
  expect(toResponsesFailure({ code: 'rate_limit_exceeded' }).status).toBe(429);
});
