import { describe, expect, it } from 'vitest';
import type { ApiReply } from '../../../src/apis/api-caller.ts';
import { readApiInput, toApiResult } from '../../../src/tasks/runs/call-api.ts';

describe('the call of an API in the input of a run', () => {
  it('is a look where there is no body, and else sends it byte by byte', async () => {
    const read = async (text: string) => {
      const { body, ...rest } = await readApiInput(Buffer.from(text));
      return { ...rest, body: body?.toString() };
    };
    expect(await read('{}')).toEqual({
      method: 'GET',
      path: '',
      query: undefined,
      body: undefined,
    });
    expect(await read('{"path":"/a","query":{"b":"1"}}')).toEqual({
      method: 'GET',
      path: '/a',
      query: { b: '1' },
      body: undefined,
    });
    expect(await read('{"body": {"n": 1.0, "big": 12345678901234567890} }')).toMatchObject({
      method: 'POST',
      body: '{"n": 1.0, "big": 12345678901234567890}',
    });
    expect(await read('{"method":"PUT","body":null}')).toMatchObject({
      method: 'PUT',
      body: 'null',
    });
  });
});

describe('the answer of an API as the output of a run', () => {
  const reply = (body: string | Buffer, type?: string, status = 200): ApiReply =>
    ({
      status,
      headers: type === undefined ? {} : { 'content-type': type },
      body: Buffer.from(body),
    }) as unknown as ApiReply;
  const shown = async (...parts: Parameters<typeof reply>) =>
    (await toApiResult(reply(...parts))).output?.toString() ?? '';

  it.each([
    ['{"n": 1.0}', 'application/json', '{"n": 1.0}'],
    ['[1]', 'application/problem+JSON; charset=utf-8', '[1]'],
    ['{"cut', 'application/json', JSON.stringify({ base64: 'eyJjdXQ=' })],
    ['{"n":1}', 'text/plain', '"{\\"n\\":1}"'],
    ['a', 'TEXT/html', '"a"'],
    ['', 'application/octet-stream', '""'],
    ['', 'application/json', '""'],
    ['a', 'application/octet-stream', '{"base64":"YQ=="}'],
    ['a', 'context/plain', '{"base64":"YQ=="}'],
    ['a', undefined, '{"base64":"YQ=="}'],
    ['"$&"', 'application/json', '"$&"'],
  ])('%j of %s holds the body %s', async (body, type, member) => {
    expect(await shown(body, type)).toMatch(/^\{"status":200,"headers":/);
    expect((await shown(body, type)).endsWith(`,"body":${member}}`)).toBe(true);
  });

  it.each([
    [200, false],
    [302, false],
    [399, false],
    [400, true],
    [503, true],
  ])('of status %i has failed: %s', async (status, hasFailed) => {
    const { error, output } = await toApiResult(reply('{}', 'application/json', status));
    expect(output).toBeDefined();
    expect(error).toEqual(
      hasFailed
        ? { code: 'upstream_rejected', message: `the API refused the call with ${status}` }
        : null,
    );
  });
});
