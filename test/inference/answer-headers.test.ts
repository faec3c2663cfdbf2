import { expect, it } from 'vitest';
import { describeAnswer } from '../../src/inference/answer-headers.ts';
import type { Call, ResponseHeaders } from '../../src/inference/types.ts';
import { clientHeaders } from '../../src/upstream/response-headers.ts';
import { fakeModel } from '../support/catalog.ts';

function headersOf(model: string): ResponseHeaders {
  const record = { attempts: [], losses: [], skipped: [], answeredBy: undefined };
  const call = { model: fakeModel(model, []), record } as unknown as Call;
  const headers = clientHeaders({ 'x-gateway-model': 'forged', 'x-gateway-cost': '0.00' });
  describeAnswer(call, headers);
  return headers;
}

it('keeps to its own names, whatever a provider sends under them', () => {
  expect(headersOf('acme/fast')).toEqual({
    'x-gateway-model': 'acme/fast',
    'x-gateway-attempts': '0',
  });
});

it('can be sent whatever name a client gave', () => {
  expect(headersOf('acme/é\r\n\ud800')['x-gateway-model']).toBe('acme%2F%C3%A9%0D%0A%EF%BF%BD');
  expect(headersOf(`acme/${'x'.repeat(2_000)}`)['x-gateway-model']).toHaveLength(512);
});
