import { describe, expect, it } from 'vitest';
import { ApiCallRecord } from '../../src/apis/settle-api-call.ts';
import { GatewayError } from '../../src/core/errors.ts';
import { fromBytes, gatherBody } from '../../src/core/memory/spooled-body.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { LedgerEntry, RequestOutcome } from '../../src/usage/ledger/ledger.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { makeApi } from './make-api.ts';

/** The record of a call that began 2 ms ago, and what it is settled with. */
function setUp({ keepContent = false, endpoint = 'POST /a' } = {}) {
  const clock = createFakeClock();
  const outcomes: RequestOutcome[] = [];
  const entry = { settle: (outcome) => void outcomes.push(outcome) } as Pick<LedgerEntry, 'settle'>;
  const api = { ...makeApi(), pricing: { perCall: 5 } };
  const startedAt = clock.monotonic();
  const record = new ApiCallRecord(api, { clock, startedAt, endpoint, keepContent });
  clock.advance(2);
  return { clock, record, entry: entry as LedgerEntry, api, outcomes };
}

describe('the record of a call of an API', () => {
  it('tells who answered, what it took and what it cost', () => {
    const { clock, record, entry, api, outcomes } = setUp();
    record.sent();
    clock.advance(10);
    // Only the first attempt ends the time that is the gateway's own.
    record.sent();
    record.attempted(200, 'ok', 10.4);
    record.answered(200, 'application/json');
    clock.advance(30);
    const consumption = { usage: NO_USAGE, estimated: false, cost: 5, unpriced: false };
    expect(record.settleAnswer(entry, { status: 200, failure: undefined })).toEqual(consumption);
    expect(outcomes).toEqual([
      {
        status: 200,
        result: 'ok',
        answeredBy: { model: api.name, provider: api.name, upstreamModel: 'POST /a' },
        attempts: [{ provider: api.name, model: 'POST /a', status: 200, outcome: 'ok', ms: 10 }],
        ...consumption,
        losses: [],
        overheadUs: 2_000,
        firstContentMs: 12,
        totalMs: 42,
      },
    ]);
  });

  it('names nobody and no first content where nobody answered, and costs nothing', () => {
    const { clock, record, entry, outcomes } = setUp();
    record.sent();
    clock.advance(7);
    record.settleError(entry, new GatewayError('upstream_timeout'), false);
    expect(outcomes).toEqual([
      {
        status: 504,
        result: 'error',
        errorCode: 'upstream_timeout',
        attempts: [],
        usage: NO_USAGE,
        estimated: false,
        cost: 0,
        unpriced: false,
        losses: [],
        overheadUs: 2_000,
        firstContentMs: null,
        totalMs: 9,
      },
    ]);
  });

  it('counts all time as the gateway’s own where nothing was sent', () => {
    const { clock, record, entry, outcomes } = setUp();
    clock.advance(3);
    record.settleError(entry, new GatewayError('no_route_succeeded'), false);
    expect(outcomes).toMatchObject([{ overheadUs: 5_000, totalMs: 5 }]);
  });

  it('says of a client that left that it did, whatever the failure', () => {
    const { record, entry, outcomes } = setUp();
    record.settleError(entry, new GatewayError('upstream_timeout'), true);
    expect(outcomes).toMatchObject([{ status: 499, result: 'aborted' }]);
    expect(outcomes[0]).not.toHaveProperty('errorCode');
  });

  it.each([
    [299, 'ok', 5],
    [300, 'ok', 0],
    [399, 'ok', 0],
    [400, 'error', 0],
    [500, 'error', 0],
  ] as const)('with status %d is %s and costs %d', (status, result, cost) => {
    const { record, entry, outcomes } = setUp();
    record.answered(status, undefined);
    record.settleAnswer(entry, { status, failure: undefined });
    expect(outcomes).toMatchObject([{ status, result, cost }]);
  });

  it('keeps no more than 200 characters of what was called', () => {
    const { record } = setUp({ endpoint: 'x'.repeat(201) });
    record.attempted(null, 'failed', 0);
    expect(record.attempts).toEqual([
      expect.objectContaining({ model: 'x'.repeat(200), status: null }),
    ]);
  });
});

describe('the content of a call', () => {
  it('is kept where it is asked for', async () => {
    const { record, entry, outcomes } = setUp({ keepContent: true });
    const body = record.watch(fromBytes(Buffer.from('the question')));
    expect(String(await gatherBody(body ?? expect.fail('there is none'), 100))).toBe(
      'the question',
    );
    record.answered(200, 'text/plain');
    record.passed(Buffer.from('the answer'));
    record.settleAnswer(entry, { status: 200, failure: undefined });
    expect(outcomes).toMatchObject([
      { content: { request: 'the question', response: 'the answer' } },
    ]);
  });

  it('is left alone otherwise', () => {
    const { record, entry, outcomes } = setUp();
    const body = fromBytes(Buffer.from('the question'));
    expect(record.watch(body)).toBe(body);
    expect(record.watch(undefined)).toBeUndefined();
    record.settleAnswer(entry, { status: 200, failure: undefined });
    expect(outcomes[0]).not.toHaveProperty('content');
  });
});
