import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  declaredLength,
  discardRest,
  refuseCoded,
  refuseUnread,
} from '../../../src/surfaces/bodies/refuse-body.ts';

const MOST_DISCARDED = 64 * 1024 * 1024;

function requestOf(headers: IncomingHttpHeaders = {}, destroyed = false): IncomingMessage {
  const request = Object.assign(new EventEmitter(), {
    headers,
    destroyed,
    destroy: () => void (request.destroyed = true),
  });
  return request as unknown as IncomingMessage;
}

const lengthOf = (bytes: number): IncomingMessage => requestOf({ 'content-length': String(bytes) });

describe('the length that is announced', () => {
  it.each<[IncomingHttpHeaders, number | undefined]>([
    [{}, 0],
    [{ 'content-length': '7' }, 7],
    [{ 'transfer-encoding': 'chunked' }, undefined],
    [{ 'transfer-encoding': 'chunked', 'content-length': '7' }, undefined],
  ])('by %j is %s', (headers, length) => {
    expect(declaredLength(requestOf(headers))).toBe(length);
  });
});

describe('a body that is not read', () => {
  it('is one of a client that left', () => {
    expect(refuseUnread(requestOf({}, true), 10)).toMatchObject({
      code: 'invalid_request',
      message: 'the request body was cut off',
    });
  });

  it('is larger than the limit, and the rest of it is let go of', () => {
    const request = lengthOf(11);
    expect(refuseUnread(request, 10)).toMatchObject({
      code: 'body_too_large',
      message: 'request body is larger than the limit of 10 bytes',
      headers: undefined,
    });
    expect(request.listenerCount('data')).toBe(1);
  });

  it('is larger than what is let go of, so the connection ends', () => {
    const request = lengthOf(MOST_DISCARDED + 1);
    expect(refuseUnread(request, 10)?.headers).toEqual({ connection: 'close' });
    expect(request.listenerCount('data')).toBe(0);
    expect(refuseUnread(lengthOf(MOST_DISCARDED), 10)?.headers).toBeUndefined();
  });

  it('is none that is within the limit, or does not tell its length', () => {
    expect(refuseUnread(lengthOf(10), 10)).toBeUndefined();
    expect(refuseUnread(requestOf({ 'transfer-encoding': 'chunked' }), 0)).toBeUndefined();
  });
});

describe('a body in a content coding', () => {
  const coded = (coding: string, rest: IncomingHttpHeaders = { 'content-length': '1' }) =>
    requestOf({ 'content-encoding': coding, ...rest });

  it.each(['gzip', 'br', 'identity, gzip', 'identities', 'x'])('%s is refused', (coding) => {
    const request = coded(coding);
    expect(refuseCoded(request)).toMatchObject({
      code: 'coded_body',
      headers: { 'accept-encoding': 'identity' },
    });
    expect(request.listenerCount('data')).toBe(1);
  });

  it.each(['', 'identity', 'IDENTITY', ' identity , identity '])('%j is taken', (coding) => {
    expect(refuseCoded(coded(coding))).toBeUndefined();
  });

  it('is refused where its length is not told, and not where there is none', () => {
    const open = coded('gzip', { 'transfer-encoding': 'chunked' });
    expect(refuseCoded(open)?.code).toBe('coded_body');
    expect(refuseCoded(coded('gzip', {}))).toBeUndefined();
    expect(refuseCoded(lengthOf(1))).toBeUndefined();
  });
});

it('the rest of a body is taken up to a bound, and its failure is nobody’s', () => {
  const request = requestOf();
  const error = new Error('refused');
  expect(discardRest(request, error)).toBe(error);
  const half = { length: MOST_DISCARDED / 2 };
  request.emit('data', half);
  request.emit('data', half);
  expect(request.destroyed).toBe(false);
  request.emit('data', { length: 1 });
  expect(request.destroyed).toBe(true);
  expect(() => request.emit('error', new Error('reset'))).not.toThrow();
});
