import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import { runsOf, SEED } from '../../runs.ts';
import type { HostileRequest } from './hostile-requests.ts';
import type { Got, KeepAliveClient } from './keep-alive-client.ts';

/** Requests of each operation. */
const RUNS = runsOf(6, 20);

/** A failure prints its seed and its operation: `FUZZ_SEED=1 FUZZ_ONLY='POST /v1/agents'` sees it again. */
export const FUZZ = {
  runs: RUNS,
  parameters: { numRuns: RUNS, seed: SEED },
  only: process.env['FUZZ_ONLY'] ?? '',
  timeoutMs: 150_000 + RUNS * 60_000,
};

const INSIDES = /TypeError|RangeError|SyntaxError|node_modules|\.[jt]s:\d|ECONN|\[object /;

/** Holds an answer to what every answer is, whatever was asked. */
export function expectSafeAnswer(
  { method }: HostileRequest,
  { status, headers, text }: Got,
  secrets: readonly string[],
): void {
  const shown = `${status} ${text.slice(0, 500)}`;
  expect(status, shown).toBeLessThan(500);
  expect(headers['x-request-id'], shown).toMatch(/^req_/);
  expect(headers['request-id'], shown).toBe(headers['x-request-id']);
  for (const secret of secrets)
    expect(text.includes(secret), `tells ${secret}: ${shown}`).toBe(false);
  if (method === 'HEAD' || status < 400) return;
  expect(headers['content-type'], shown).toBe('application/json');
  expect(text, shown).not.toMatch(INSIDES);
  const { error } = JSON.parse(text) as { error: string | { message: string } };
  expect(typeof error === 'string' ? error : error.message, shown).toBeTypeOf('string');
}

/** The connection is of use for the next request, or was closed as connections are. */
export async function expectAlive(client: KeepAliveClient): Promise<void> {
  const alive = { method: 'GET', target: '/healthz', headers: {}, body: Buffer.alloc(0) };
  expect(await client.send(alive)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
}
