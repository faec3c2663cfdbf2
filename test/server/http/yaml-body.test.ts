import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { isYaml, readYaml } from '../../../src/server/http/yaml-body.ts';

const read = (text: string, options?: { optional: boolean }) =>
  readYaml(Buffer.from(text), options);

describe('a body in YAML', () => {
  it.each([
    ['application/yaml', true],
    ['text/yaml; charset=utf-8', true],
    ['Application/X-YAML', true],
    ['text/x-yaml ', true],
    ['application/yamls', false],
    ['image/yaml', false],
    ['x-application/yaml', false],
    [undefined, false],
  ])('is told by the content type %s: %s', (type, isIt) => {
    expect(isYaml({ headers: { 'content-type': type } })).toBe(isIt);
  });

  it('is read as the mapping that it holds', () => {
    expect(read('name: a\nlabels:\n  b: c\n').value).toEqual({ name: 'a', labels: { b: 'c' } });
  });

  it('may be empty only where it is optional', () => {
    expect(read('', { optional: true }).value).toEqual({});
    expect(() => read('')).toThrow('expected one document that is a mapping');
  });

  it.each(['a: 1\n---\nb: 2\n', '- a\n', 'text\n'])('is refused as %j', (text) => {
    for (const optional of [false, true])
      expect(() => read(text, { optional })).toThrow(
        'request body is not valid YAML: expected one document that is a mapping',
      );
  });

  it('is refused in another encoding', () => {
    expect(() => readYaml(Buffer.from([0x61, 0x3a, 0x20, 0xff]))).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: 'request body is not valid YAML: not UTF-8',
      }),
    );
  });

  it('is refused with the place of its first fault', () => {
    expect(() => read('a: 1\nb: [1\nc: 2\n')).toThrow(/not valid YAML: line \d+, column \d+: /);
  });

  it('is refused with more words than a person writes', () => {
    const long = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join('\n');
    expect(() => read(long)).toThrow('not valid YAML');
  });

  it('gives the error of a member the place where it is written', () => {
    const { locate } = read('name: a\nlimits:\n  - rpm: x\n');
    const found = locate(
      new GatewayError('unprocessable', { message: 'too small', param: 'limits[0].rpm' }),
    );
    expect(found).toMatchObject({
      code: 'unprocessable',
      param: 'limits[0].rpm',
      message: 'line 3, column 10: too small',
    });
  });

  it('leaves other errors as they are', () => {
    const { locate } = read('name: a\n');
    const nameless = new GatewayError('conflict', { message: 'taken' });
    const foreign = new Error('x');
    expect(locate(nameless)).toBe(nameless);
    expect(locate(foreign)).toBe(foreign);
  });
});
