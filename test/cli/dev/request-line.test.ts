import { expect, it } from 'vitest';
import { createRequestLines } from '../../../src/cli/dev/request-line.ts';
import { createStyle } from '../../../src/cli/output/style.ts';
import type { LogLine } from '../../../src/core/log.ts';

const line = (fields: Readonly<Record<string, unknown>>): string => {
  const log: LogLine = {
    time: '2026-11-29T12:00:00.000Z',
    level: 'info',
    message: 'request',
    fields,
  };
  return createRequestLines(createStyle(false))(log);
};

it('says why and where a provider could not be reached', () => {
  const fields = {
    request_id: 'req_1',
    surface: 'chat',
    model: 'acme/fast',
    status: 503,
    total_ms: 12,
    error: 'no_route_succeeded',
    attempts: 'openai:connect,openai:connect',
  };
  expect(line({ ...fields, causes: 'openai: ECONNREFUSED 127.0.0.1:1' })).toBe(
    '12:00:00 503 chat acme/fast 12 ms no_route_succeeded (openai: ECONNREFUSED 127.0.0.1:1) req_1\n',
  );
  expect(line(fields)).toContain('(openai:connect, openai:connect)');
});
