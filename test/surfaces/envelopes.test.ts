import { describe, expect, it } from 'vitest';
import { ERRORS, GatewayError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/core/errors.ts';
import { errorBody, errorHeaders } from '../../src/surfaces/envelopes.ts';

describe('errorBody', () => {
  it('tells the shared checks flat on Bearer-only families and in the own shape elsewhere', () => {
    const error = new GatewayError('invalid_api_key');
    expect(errorBody(error, 'chat', 'req_1')).toEqual({ error: 'invalid API key' });
    expect(errorBody(error, 'resource', 'req_1')).toEqual({ error: 'invalid API key' });
    expect(errorBody(error, 'messages', 'req_1')).toEqual({
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid API key' },
      request_id: 'req_1',
    });
    expect(errorBody(error, 'google', 'req_1')).toEqual({
      error: { code: 401, message: 'invalid API key', status: 'UNAUTHENTICATED' },
    });
  });

  it('gives the chat envelope four members whatever happened', () => {
    const error = new GatewayError('invalid_request', { message: 'no', param: 'stream' });
    expect(errorBody(error, 'chat', 'req_1')).toEqual({
      error: {
        message: 'no',
        type: 'invalid_request_error',
        param: 'stream',
        code: 'invalid_request',
      },
    });
    expect(errorBody(new GatewayError('no_route_succeeded'), 'chat', 'req_1')).toMatchObject({
      error: { type: 'api_error', param: null, code: 'no_route_succeeded' },
    });
  });

  it("prefers the provider's own code in the chat envelope, and has it in no other", () => {
    const providerCode = 'context_length_exceeded';
    const error = new GatewayError('upstream_rejected', { providerCode, param: 'messages' });
    const told = error.with({ status: 400 });
    expect(errorBody(told, 'chat', 'req_1')).toMatchObject({
      error: { code: providerCode, param: 'messages' },
    });
    for (const envelope of ['flat', 'resource', 'messages', 'google'] as const)
      expect(JSON.stringify(errorBody(told, envelope, 'req_1'))).not.toContain(providerCode);
  });

  it('names every code of the error table in every envelope', () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      for (const envelope of ['flat', 'resource', 'chat', 'messages', 'google'] as const) {
        const body = JSON.stringify(errorBody(new GatewayError(code), envelope, 'req_1'));
        expect(body).toContain(JSON.stringify(ERRORS[code].message).slice(1, -1));
        expect(body).not.toContain('undefined');
      }
    }
  });

  it('tells clients not to repeat what must not be repeated', () => {
    expect(errorHeaders(new GatewayError('conflict', { retry: false }))).toEqual({
      'x-should-retry': 'false',
    });
    expect(errorHeaders(new GatewayError('conflict'))).toEqual({});
  });

  it('keep clients from repeating a call whose key is refused', () => {
    for (const code of ['missing_api_key', 'invalid_api_key', 'api_key_expired'] as const)
      expect(errorHeaders(new GatewayError(code))).toEqual({ 'x-should-retry': 'false' });
  });
});
