import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import { GOOGLE, STANDARD } from '../../src/protocols/family.ts';
import type { Family } from '../../src/protocols/family.ts';
import { toFamilyError } from '../../src/surfaces/family-error.ts';

const family = (overrides: Partial<Family> = {}): Family => ({ ...STANDARD, ...overrides });
const told = (of: Family, error: GatewayError, statuses?: readonly (number | null)[]) => {
  const { code, status } = toFamilyError(of, error, statuses);
  return { code, status };
};

describe('an error in the terms of a family', () => {
  it('is the same where the family has nothing to say', () => {
    const error = new GatewayError('invalid_json');
    expect(toFamilyError(GOOGLE, error)).toBe(error);
  });

  it.each([402, 403] as const)('tells of money that is spent by %i', (keySpent) => {
    for (const code of ['key_spending_limit', 'unpriced'] as const)
      expect(told(family({ keySpent }), new GatewayError(code))).toEqual({
        code,
        status: keySpent,
      });
  });

  it('tells of an unknown model by the status of the family', () => {
    const error = new GatewayError('model_not_found');
    expect(told(family({ unknownModel: 400 }), error).status).toBe(400);
    expect(told(family({ noRoute: 400 }), error).status).toBe(404);
  });

  it('tells of a model without a route as of an unknown one', () => {
    const error = new GatewayError('model_unavailable', { message: 'none', param: 'model' });
    const of = family({ noRoute: 400 });
    expect(toFamilyError(of, error)).toMatchObject({
      code: 'model_not_found',
      status: 400,
      message: 'none',
      param: 'model',
    });
    expect(toFamilyError(of, new GatewayError('model_unavailable')).param).toBeUndefined();
  });
});

describe('the refusal of a provider', () => {
  const statusOf = (of: Family, status: number): number =>
    toFamilyError(of, new GatewayError('upstream_rejected', { status })).status;

  it.each([
    [{}, 418, 418],
    [{ refusals: [404] }, 404, 404],
    [{ refusals: [404] }, 418, 400],
    [{ refusals: [404], denials: [403] as const }, 403, 403],
    [{ refusals: [404], denials: [403] as const }, 401, 400],
  ])('with %j and the status %i is told by %i', (overrides, status, expected) => {
    expect(statusOf(family(overrides), status)).toBe(expected);
  });
});

describe('an answer that could not be read', () => {
  const error = new GatewayError('invalid_upstream_response', { retry: false });

  it('is told as it is where the family has the status', () => {
    expect(toFamilyError(family(), error)).toBe(error);
  });

  it('is told as an exhausted route elsewhere, with the word on another try', () => {
    const of = family({ unreadable: 503 });
    expect(toFamilyError(of, error)).toMatchObject({
      code: 'no_route_succeeded',
      status: 503,
      retry: false,
      cause: error,
    });
    const plain = new GatewayError('invalid_upstream_response');
    expect(toFamilyError(of, plain).retry).toBeUndefined();
  });

  it('is told as no stream where the family lets providers answer whole', () => {
    const whole = error.with({ type: 'not_a_stream' });
    const of = family({ maySkipStreams: true });
    expect(toFamilyError(of, whole)).toMatchObject({
      code: 'unsupported_feature',
      status: 400,
      param: 'stream',
      cause: whole,
    });
    expect(toFamilyError(of, error)).toBe(error);
    expect(toFamilyError(family(), whole)).toBe(whole);
  });
});

describe('a call without a route that succeeded', () => {
  const error = new GatewayError('no_route_succeeded');
  const LIMITED = { code: 'provider_rate_limited', status: 429 };
  const SAME = { code: 'no_route_succeeded', status: 503 };
  const DENIED = { code: 'upstream_rejected', status: 403 };
  const FAILED = { code: 'no_route_succeeded', status: 500 };
  const denials = [403] as const;

  it.each<[Partial<Family>, readonly (number | null)[], object]>([
    [{}, [429], SAME],
    [{ limited: 'last' }, [500, 429], LIMITED],
    [{ limited: 'last' }, [429, 500], SAME],
    [{ limited: 'all' }, [429, 429], LIMITED],
    [{ limited: 'all' }, [500, 429], SAME],
    [{ limited: 'all' }, [], SAME],
    [{ limited: 'all' }, [429, null], SAME],
    [{ failed: true }, [500, 500], FAILED],
    [{ failed: true }, [500, 502], SAME],
    [{ failed: true }, [], SAME],
    [{}, [500], SAME],
    [{ denials }, [500, 403], DENIED],
    [{ denials }, [403, 500], SAME],
    [{ denials }, [401], SAME],
    [{ denials }, [], SAME],
    [{}, [403], SAME],
  ])('is, by %j and the statuses %j, told as %j', (overrides, statuses, expected) => {
    expect(told(family(overrides), error, statuses)).toEqual(expected);
  });

  it('keeps the cause of what is told', () => {
    expect(toFamilyError(family({ limited: 'last' }), error, [429]).cause).toBe(error);
    expect(toFamilyError(family({ denials }), error, [403])).toMatchObject({
      cause: error,
      message: 'the provider refused the request for lack of permission',
    });
  });

  it('is told as it came where nobody was asked', () => {
    expect(toFamilyError(GOOGLE, error)).toBe(error);
  });
});
