import { describe, expect, it } from 'vitest';
import { callOf, originOf } from '../../src/audit/origin-of.ts';

const callWith = (address: string | undefined, client?: string) => ({
  id: 'req_1',
  request: {
    socket: { remoteAddress: address } as never,
    headers: client === undefined ? {} : { 'user-agent': client },
  },
});

describe('the origin of a change', () => {
  it('is the key, the peer and the request', () => {
    const key = { keyId: 'key_1', keyName: 'ci', other: 'secret' };
    expect(originOf(callWith('10.0.0.1', 'curl/8'), key)).toEqual({
      actor: { kind: 'key', id: 'key_1', name: 'ci' },
      from: { address: '10.0.0.1', client: 'curl/8' },
      requestId: 'req_1',
    });
  });

  it('is unknown where nothing is told', () => {
    expect(callOf(callWith(undefined))).toEqual({
      from: { address: null, client: null },
      requestId: 'req_1',
    });
  });

  it('keeps 200 characters of a user agent', () => {
    const client = `${'x'.repeat(199)}yz`;
    expect(callOf(callWith('::1', client)).from.client).toBe(`${'x'.repeat(199)}y`);
  });
});
