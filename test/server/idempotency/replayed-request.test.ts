import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import {
  createStandIn,
  fillReplayed,
  fingerprintBody,
  replayRequest,
} from '../../../src/server/idempotency/replayed-request.ts';

function asking(headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  return Object.assign(request, {
    httpVersion: '1.1',
    method: 'POST',
    url: '/v1/agents?a=b',
    headers,
    rawHeaders: Object.entries(headers).flat(),
  });
}

describe('a request that is read once more', () => {
  it('is the same with the body that was read', async () => {
    const request = asking({ 'x-a': 'b' });
    const copy = replayRequest(request);
    fillReplayed(copy, Buffer.from('body'));
    const { httpVersion, method, url, headers, rawHeaders, socket } = request;
    expect(copy).toMatchObject({ httpVersion, method, url, headers, rawHeaders, complete: true });
    expect(copy.socket).toBe(socket);
    expect(Buffer.concat(await copy.toArray()).toString()).toBe('body');
  });
});

describe('a response that stands in for the one of a client', () => {
  it.each([true, false])('tells of its end and of whether all was written: %s', (wasWritten) => {
    const { response, close } = createStandIn(asking());
    const onClose = vi.fn();
    response.on('close', onClose);
    expect(response.writableFinished).toBe(false);
    close(wasWritten);
    expect([onClose.mock.calls.length, response.writableFinished]).toEqual([1, wasWritten]);
  });
});

describe('the fingerprint of a body', () => {
  const printOf = (type: string | undefined, body: string): string =>
    fingerprintBody(asking(type === undefined ? {} : { 'content-type': type }), Buffer.from(body));
  const form = (boundary: string, ...parts: string[]): string =>
    `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`;

  it('tells bodies apart, and their types', () => {
    const json = printOf('application/json', '{}');
    expect(json).toMatch(/^[\w-]{43}$/);
    expect(printOf('application/json', '{}')).toBe(json);
    expect(printOf('application/json', '{ }')).not.toBe(json);
    expect(printOf('text/plain', '{}')).not.toBe(json);
    expect(printOf(undefined, 'a{}')).not.toBe(printOf('a', '{}'));
  });

  it.each([
    ['multipart/form-data; boundary=bb', 'bb'],
    ['multipart/form-data; boundary="b b"', 'b b'],
    ['Multipart/Form-Data; charset=utf-8; Boundary=bb', 'bb'],
    ['multipart/form-data; boundary=bb; charset=utf-8', 'bb'],
  ])('does not depend on the boundary of %s', (type, boundary) => {
    const first = printOf('multipart/form-data; boundary=aaa', form('aaa', 'one', 'two'));
    expect(printOf(type, form(boundary, 'one', 'two'))).toBe(first);
  });

  it.each([[['one']], [['one', 'three']], [['onetwo']], [['two', 'one']]])(
    'tells a form of two parts from %j',
    (parts) => {
      const type = 'multipart/form-data; boundary=bb';
      expect(printOf(type, form('bb', ...parts))).not.toBe(printOf(type, form('bb', 'one', 'two')));
    },
  );

  it('counts what stands behind the last boundary', () => {
    const type = 'multipart/form-data; boundary=bb';
    expect(printOf(type, `${form('bb', 'one')}x`)).not.toBe(printOf(type, form('bb', 'one')));
  });
});
