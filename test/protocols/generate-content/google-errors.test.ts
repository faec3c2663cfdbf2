import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { errorBody } from '../../../src/surfaces/envelopes.ts';
import { verifies } from '../../requirements.ts';

const NAMES = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

describe('an error of generate-content', () => {
  it(
    verifies(
      'errors.google.status-names',
      'errors.google.shape',
      'has three members: the HTTP status, the text and the name of the status',
    ),
    () => {
      for (const [status, name] of Object.entries(NAMES)) {
        const error = new GatewayError('key_spending_limit', { status: Number(status) });
        expect(errorBody(error, 'google', 'req_1')).toEqual({
          error: {
            code: Number(status),
            message: 'API key spending limit exceeded',
            status: name,
          },
        });
      }
    },
  );
});
