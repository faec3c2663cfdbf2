import { describe, expect, it } from 'vitest';
import { renderRequest } from '../../../src/cli/details/request-page.ts';
import { createStyle } from '../../../src/cli/output/style.ts';
import type { RequestRecord } from '../../../src/client/requests.ts';
import { verifies } from '../../requirements.ts';

const RECORD: RequestRecord = {
  id: 'req_1',
  created_at: '2026-11-21T10:00:00.000Z',
  organization: 'org_1',
  key: { id: 'key_1', name: 'ci' },
  surface: 'chat',
  model: 'acme/fast',
  alias: null,
  stream: false,
  conversation: null,
  end_user: null,
  tags: null,
  answered_by: null,
  status: 200,
  result: 'ok',
  error_code: null,
  attempts: [],
  usage: { input_tokens: 0, output_tokens: 0 },
  estimated: false,
  cost: '0.00',
  losses: [],
  overhead_us: 1200,
  first_content_ms: null,
  total_ms: 240,
};
const BY = { model: 'acme/fast', provider: 'main', upstream_model: 'fast-1' };
const TRIED = [
  {
    provider: 'off',
    model: 'fast-1',
    status: null,
    outcome: 'cooldown',
    ms: 0,
    verdict: 'next route',
  },
  {
    provider: 'backup',
    model: 'fast-1',
    status: null,
    outcome: 'connect',
    ms: 30,
    cause: 'ECONNREFUSED',
    verdict: 'next route',
  },
  { provider: 'main', model: 'fast-1', status: 200, outcome: 'ok', ms: 200, verdict: 'final' },
];

const page = (record: object) => renderRequest({ ...RECORD, ...record }, createStyle(false));
const firstLine = async (record: object) => (await page(record)).split('\n')[0];

describe('the page of a request', () => {
  it(
    verifies('cli.pages', 'goes from what happened over attempts, and has no line for what is not'),
    async () => {
      const usage = { input_tokens: 12, output_tokens: 5, reasoning_tokens: 2, images: 0 };
      const answered = { answered_by: BY, attempts: TRIED, usage, cost: '0.01', reserved: '0.25' };
      expect(await page({ ...answered, organization_name: 'blue', first_content_ms: 90 })).toBe(
        `
Answered by main after 240 ms for 0.01 USD.

request   req_1
when      2026-11-21T10:00:00.000Z, took 240 ms, first content after 90 ms, 1.2 ms of it before a provider
who       key ci, organization blue
model     acme/fast, over chat
provider  main as fast-1
status    200
tokens    12 input, 5 output, 2 of it reasoning
money     0.01 USD, of 0.25 reserved

ATTEMPT  PROVIDER  MODEL   STATUS  OUTCOME   CAUSE         BEGAN AFTER  TOOK    THEN
1        off       fast-1  -       cooldown  -             1 ms         0 ms    next route
2        backup    fast-1  -       connect   ECONNREFUSED  1 ms         30 ms   next route
3        main      fast-1  200     ok        -             31 ms        200 ms  final
`.trim(),
      );
    },
  );

  it('has few lines for a call that a limit refused, and says what to type', async () => {
    const refused = {
      limit: 'budget',
      id: 'bud_1',
      name: 'blue',
      unit: 'money',
      per: 'month',
      tokens: { input: 1, output: 16_384, output_from: 'default' },
      text: `The call did not fit ${'a limit '.repeat(16)}.`,
    };
    const error = { result: 'error', status: 402, error_code: 'organization_spending_limit' };
    expect(await page({ ...error, refused_by: refused, total_ms: 1 })).toBe(
      `
Refused with 402 (organization_spending_limit). The call did not fit a limit a limit a limit a limit a limit a limit a
limit a limit a limit a limit a limit a limit a limit a limit a limit a limit .

request  req_1
when     2026-11-21T10:00:00.000Z, took 1 ms
who      key ci, organization org_1
model    acme/fast, over chat
status   402

Reserve less: send a limit of output tokens, such as max_tokens.
Raise the limit: gateway budgets update --amount USD blue
Where a file declares it, change it there.
`.trim(),
    );
  });

  it.each<[object, string | undefined]>([
    [
      { limit: 'key', name: 'ci', unit: 'money', per: 'lifetime' },
      'keys update --spending-limit USD ci',
    ],
    [
      { limit: 'key', name: 'ci', unit: 'money', per: 'day' },
      'keys update --spending-limit-day USD ci',
    ],
    [{ limit: 'key', name: 'ci', unit: 'requests', per: 'minute' }, 'keys update --rpm-cap N ci'],
    [{ limit: 'key', name: 'ci', unit: 'in_flight' }, 'keys update --concurrency-cap N ci'],
    [
      { limit: 'organization', id: 'org_1', name: null, unit: 'money', per: 'month' },
      'organizations update --spending-limit.month USD org_1',
    ],
    [
      { limit: 'budget', name: "the team's $HOME", unit: 'money' },
      String.raw`budgets update --amount USD 'the team'\''s $HOME'`,
    ],
    [{ limit: 'budget', name: '-all', unit: 'money' }, 'budgets update --amount USD -- -all'],
    [{ limit: 'key', name: 'ci', unit: 'tokens', per: 'day' }, undefined],
    [{ limit: 'gateway', id: '', name: null, unit: 'requests' }, undefined],
  ])('names the command that raises %o', async (refused, command) => {
    const text = await page({ result: 'error', status: 402, refused_by: refused });
    const found = /Raise the limit: gateway (.*)/.exec(text)?.[1];
    expect(found).toBe(command);
  });

  it.each<[string, object, string]>([
    [
      'is under way',
      { result: 'pending', status: null },
      'The request is under way since 2026-11-21T10:00:00.000Z.',
    ],
    [
      'has no known price',
      { cost: null, answered_by: BY },
      'Answered by main after 240 ms for an unknown price.',
    ],
    [
      'found no provider',
      {
        result: 'error',
        status: 503,
        error_code: 'no_route_succeeded',
        attempts: TRIED.slice(0, 2),
      },
      'Failed after 240 ms with 503 (no_route_succeeded): backup ended with connect, ECONNREFUSED.',
    ],
    [
      'was refused before a provider',
      { result: 'error', status: 401, error_code: 'api_key_revoked' },
      'Refused with 401 (api_key_revoked): API key has been revoked.',
    ],
    [
      'lost its client',
      { result: 'aborted', status: 499 },
      'The client left after 240 ms, before the answer was complete.',
    ],
    [
      'lost its process',
      { result: 'interrupted', status: null, error_code: 'worker_lost', total_ms: null },
      'The process that served the request ended before the answer did.',
    ],
    [
      'broke off',
      { result: 'interrupted', error_code: 'upstream_interrupted' },
      'The answer broke off after 240 ms: upstream_interrupted.',
    ],
  ])('begins with a sentence where it %s', async (_, record, sentence) => {
    expect(await firstLine(record)).toBe(sentence);
  });
});
