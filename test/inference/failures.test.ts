import { describe, expect, it } from 'vitest';
import { statusFailure, streamFailure } from '../../src/inference/failures.ts';
import { verifies } from '../requirements.ts';
import { fakeRoute } from '../support/catalog.ts';

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
