import { describe, expect, it } from 'vitest';
import { statusFailure, streamFailure } from '../../src/inference/failures.ts';
import { verifies } from '../requirements.ts';
import { fakeAccount, fakeRoute } from '../support/catalog.ts';
import { ask } from './asking.ts';

describe('a 407', () => {
  it(
    verifies('routing.retryable-set.407', 'moves on, as an answer and as an error in a stream'),
    () => {
      const route = fakeRoute('a');
      const moved = { action: 'next-candidate', fault: 'credential', error: { status: 503 } };
      const answer = { status: 407, headers: {}, body: '' };
      expect(statusFailure(answer, route, 0)).toMatchObject(moved);
      const told = { kind: 'error', message: 'proxy', status: 407 } as const;
      expect(streamFailure(told, route)).toMatchObject(moved);
    },
  );

  it("is told as 400 where the provider's own rule ends the call", () => {
    const route = fakeRoute('a');
    const definition = { ...route.provider.definition, classify: () => 'fatal' as const };
    const answer = { status: 407, headers: {}, body: '' };
    const failure = statusFailure(
      answer,
      { ...route, provider: { ...route.provider, definition } },
      0,
    );
    expect(failure).toMatchObject({ action: 'fatal', upstreamStatus: 407, error: { status: 400 } });
  });
});

describe('an error in a stream', () => {
  it('without a status is a fault of the server, and moves on', () => {
    const told = { kind: 'error', message: 'overloaded' } as const;
    expect(streamFailure(told, fakeRoute('a'))).toMatchObject({
      action: 'next-candidate',
      fault: 'server',
      reason: 'stream_error',
      upstreamStatus: 200,
    });
  });
});

describe("the provider's code and param", () => {
  const refusalOf = (error: unknown, route = fakeRoute('a')) =>
    statusFailure({ status: 400, headers: {}, body: JSON.stringify(error) }, route, 0).error;
  const TOO_LONG = {
    message: 'the maximum context length is 8192 tokens',
    type: 'invalid_request_error',
    param: 'messages[0].content',
    code: 'context_length_exceeded',
  };

  it('are kept beside the message, and change nothing in the records', () => {
    expect(refusalOf({ error: TOO_LONG })).toMatchObject({
      code: 'upstream_rejected',
      providerCode: 'context_length_exceeded',
      param: 'messages[0].content',
      message: TOO_LONG.message,
    });
    expect(refusalOf(TOO_LONG)).toMatchObject({ providerCode: 'context_length_exceeded' });
    expect(refusalOf([{ error: { code: 400, status: 'INVALID_ARGUMENT' } }])).toMatchObject({
      providerCode: 'INVALID_ARGUMENT',
    });
  });

  it.each([400, null, '', '1500', 'two words', 'x'.repeat(129), 'a\nb', { a: 1 }])(
    'are left out where they are no names: %j',
    (value) => {
      const error = refusalOf({ error: { message: 'no', code: value, param: value } });
      expect(error).toMatchObject({ providerCode: undefined, param: undefined });
    },
  );

  it('are left out where they hold our credential', () => {
    const provider = fakeAccount('a', { credential: 'secret_123' });
    const route = fakeRoute('a', { provider });
    const error = refusalOf({ error: { code: 'bad_secret_123', param: 'x.secret_123' } }, route);
    expect(error).toMatchObject({ providerCode: undefined, param: undefined });
  });

  it.each([
    ['chat', { error: { ...TOO_LONG, status: 400 } }],
    ['responses', { ...TOO_LONG, type: 'error' }],
  ] as const)('are kept of a %s stream that fails before its content', async (protocol, event) => {
    const { answer, give } = ask({ client: protocol, provider: protocol, stream: true });
    await give(`event: error\ndata: ${JSON.stringify(event)}\n\n`);
    await expect(answer).rejects.toMatchObject({
      status: 400,
      code: 'upstream_rejected',
      providerCode: 'context_length_exceeded',
      param: 'messages[0].content',
    });
  });
});
