import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { noteRefused } from '../../../src/server/http/note-refused.ts';
import type { HttpExchange } from '../../../src/surfaces/http-exchange.ts';

function refuse(code: ErrorCode, { path = '/v1/files', isNoted = false } = {}) {
  const note = vi.fn();
  const error = new GatewayError(code);
  const exchange = { id: 'req_1', at: 5, startedAt: 7, path } as HttpExchange;
  noteRefused({ note, has: () => isNoted })?.(exchange, error);
  return { note, error };
}

describe('noteRefused', () => {
  it.each(['invalid_api_key', 'api_key_revoked', 'api_key_expired'] as const)(
    'leaves a record of %s',
    (code) => {
      const { note, error } = refuse(code);
      expect(note.mock.calls).toEqual([
        [
          {
            id: 'req_1',
            at: 5,
            startedAt: 7,
            surface: 'files',
            model: '',
            stream: false,
            told: error,
            cause: error,
          },
        ],
      ]);
    },
  );

  it.each(['missing_api_key', 'insufficient_scope', 'not_found'] as const)(
    'leaves none of %s',
    (code) => {
      expect(refuse(code).note).not.toHaveBeenCalled();
    },
  );

  it('leaves none of a refusal that has one already', () => {
    expect(refuse('invalid_api_key', { isNoted: true }).note).not.toHaveBeenCalled();
  });

  it.each([
    ['/v1/files/file_1', 'files'],
    ['/admin/v1/keys', 'admin'],
    ['/v1/deployment_runs', 'deployment_runs'],
    [`/v1/${'a'.repeat(32)}`, 'a'.repeat(32)],
    [`/v1/${'a'.repeat(33)}`, 'other'],
    ['/', 'other'],
  ])('names the surface of %s', (path, surface) => {
    expect(refuse('invalid_api_key', { path }).note).toHaveBeenCalledWith(
      expect.objectContaining({ surface }),
    );
  });
});
