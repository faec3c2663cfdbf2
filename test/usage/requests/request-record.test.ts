import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/usage.ts';
import type { RequestOutcome } from '../../../src/usage/ledger/ledger.ts';
import { toFinalRecord } from '../../../src/usage/requests/request-record.ts';
import { toEndRow, toStartRow, withoutReserve } from '../../../src/usage/requests/request-row.ts';
import type { EndRow, StartRow } from '../../../src/usage/requests/request-row.ts';
import { verifies } from '../../requirements.ts';
import { principal } from '../usage-fixtures.ts';

const START = toStartRow({
  at: 0,
  principal: principal(),
  surface: 'chat',
  model: 'acme/one',
  stream: false,
});
const DISCARDED = { usage: { ...NO_USAGE, input: 5, cacheRead: 2, output: 3 }, cost: 1_100 };
const OUTCOME: RequestOutcome = {
  status: 200,
  result: 'ok',
  answeredBy: { model: 'acme/one', provider: 'b', upstreamModel: 'm' },
  attempts: [
    {
      provider: 'a',
      model: 'm',
      status: 200,
      outcome: 'invalid_answer',
      ms: 3,
      discarded: DISCARDED,
    },
    { provider: 'b', model: 'm', status: 200, outcome: 'ok', ms: 4 },
  ],
  usage: { ...NO_USAGE, input: 6, cacheRead: 2, output: 4 },
  estimated: false,
  cost: 1_500,
  losses: [],
  overheadUs: 1,
  firstContentMs: 2,
  totalMs: 7,
};

describe('the record of a request', () => {
  it(
    verifies('usage.discarded-answer', 'shows what a discarded answer used at its attempt'),
    () => {
      const stored: unknown = JSON.parse(JSON.stringify(toEndRow(START, OUTCOME, false)));
      const record = toFinalRecord('req_1', stored as ReturnType<typeof toEndRow>);
      expect(record.attempts).toEqual([
        {
          provider: 'a',
          model: 'm',
          status: 200,
          outcome: 'invalid_answer',
          ms: 3,
          usage: expect.objectContaining({
            input_tokens: 5,
            cache_read_tokens: 2,
            output_tokens: 3,
          }) as unknown,
          cost: '0.0000011',
        },
        { provider: 'b', model: 'm', status: 200, outcome: 'ok', ms: 4, verdict: 'final' },
      ]);
      expect(record.usage).toMatchObject({ input_tokens: 6, output_tokens: 4 });
    },
  );

  it('of an older version has attempts without usage', () => {
    const row = toEndRow(START, { ...OUTCOME, attempts: OUTCOME.attempts.slice(1) }, false);
    expect(toFinalRecord('req_1', row).attempts).toEqual([
      { provider: 'b', model: 'm', status: 200, outcome: 'ok', ms: 4, verdict: 'final' },
    ]);
  });

  it('shows what limits held for it, and nothing where none did or it was refused', () => {
    const facts = { at: 0, principal: principal(), surface: 'chat', model: 'a/b', stream: false };
    const held = toStartRow(facts, 2_000_000);
    const recordOf = (row: StartRow) =>
      toFinalRecord('req_1', JSON.parse(JSON.stringify(toEndRow(row, OUTCOME, false))) as EndRow);
    expect(recordOf(held)).toMatchObject({ reserved: '0.002', cost: '0.0000015', alias: null });
    expect(recordOf(toStartRow(facts))).not.toHaveProperty('reserved');
    expect(recordOf(withoutReserve(held))).not.toHaveProperty('reserved');
    const origin = { conversation: 'c' };
    expect(recordOf(toStartRow({ ...facts, alias: 'b', origin }, 5))).toMatchObject({
      reserved: '0.000000005',
      alias: 'b',
      conversation: 'c',
    });
  });

  it('shows why an attempt failed and what was done then', () => {
    const failed = { provider: 'a', model: 'm', status: null, outcome: 'connect', ms: 3 };
    const told = { ...failed, cause: 'ECONNREFUSED', verdict: 'next route' as const };
    const row = toEndRow(START, { ...OUTCOME, attempts: [told] }, false);
    expect(toFinalRecord('req_1', row).attempts).toEqual([told]);
  });
});
