import { describe, expect, it } from 'vitest';
import { fromErrorBody } from '../../../src/client/http/error-body.ts';

const read = (error: unknown, status = 400) => fromErrorBody(status, JSON.stringify({ error }));

describe('the body of an error', () => {
  it.each([
    ['code', { code: 'c', type: 't', status: 's' }, 'c'],
    ['type, without a code', { code: null, type: 't', status: 's' }, 't'],
    ['status, without either', { status: 's' }, 's'],
    ['status of HTTP, where all are missing', {}, 'http_400'],
    ['status of HTTP, where all are empty', { code: '', type: '', status: '' }, 'http_400'],
  ])('is known by its %s', (_, members, code) => {
    expect(read({ message: 'm', ...members })).toEqual({ code, message: 'm' });
  });

  it('names the field at fault, where there is one', () => {
    expect(read({ message: 'm', code: 'c', param: 'model' })).toHaveProperty('param', 'model');
    expect(read({ message: 'm', code: 'c', param: null })).not.toHaveProperty('param');
  });

  it('is found in the table of errors by a text alone', () => {
    const message = 'no route succeeded';
    const known = read(message, 502);
    expect(known.message).toBe(message);
    expect(read('said by nobody', 502)).toEqual({ code: 'http_502', message: 'said by nobody' });
  });

  it('is found there with its cause behind the text', () => {
    const message = 'insufficient_scope: mcp_servers[0]: why';
    expect(read(message, 403)).toEqual({ code: 'insufficient_scope', message });
    expect(read('insufficient_scopes', 403).code).toBe('http_403');
  });

  it.each([
    ['<html>bad gateway</html>'],
    [''],
    ['null'],
    ['[]'],
    ['{"error":null}'],
    ['{"error":{}}'],
    ['{"error":{"message":""}}'],
    ['{"error":{"message":7}}'],
    ['{"message":"elsewhere"}'],
  ])('is its status alone where it says nothing: %s', (text) => {
    expect(fromErrorBody(503, text)).toEqual({
      code: 'http_503',
      message: 'the server answered with status 503',
    });
  });

  it.each([(message: string) => message, (message: string) => ({ message, code: 'c' })])(
    'is cut behind 2,000 characters',
    (shape) => {
      expect(read(shape('x'.repeat(2_000))).message).toBe('x'.repeat(2_000));
      expect(read(shape('x'.repeat(2_001))).message).toBe(`${'x'.repeat(2_000)}…`);
    },
  );
});
