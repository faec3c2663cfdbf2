import { describe, expect, it } from 'vitest';
import type { RequestRow } from '../../../src/console/api/views.ts';
import { groupConversations, joinWholes } from '../../../src/console/logic/group-conversations.ts';
import { toLogsCommand } from '../../../src/console/logic/logs-command.ts';
import { mergeRows } from '../../../src/console/logic/merge-rows.ts';
import {
  matches,
  parseFilter,
  toServerQuery,
  toggleTerm,
} from '../../../src/console/logic/request-filter.ts';
import {
  readView,
  toggleColumn,
  toRequestsOf,
  writeView,
} from '../../../src/console/logic/requests-view.ts';
import { toCurl } from '../../../src/console/logic/to-curl.ts';
import { placeOf, ticksOf, toWaterfall } from '../../../src/console/logic/waterfall.ts';

const USAGE = {
  input_tokens: 1,
  cache_read_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 2,
  reasoning_tokens: 0,
  images: 0,
  seconds: 0,
};

const REFUSED = {
  limit: 'budget',
  id: 'bud_1',
  name: 'blue',
  unit: 'money',
  needed: '0.25',
  left: '0.05',
  text: 'The call did not fit.',
};

function row(part: Partial<RequestRow> = {}): RequestRow {
  return {
    id: 'req_1',
    created_at: '2026-11-23T10:00:00.000Z',
    key: { id: 'key_1', name: 'web' },
    surface: 'chat',
    model: 'openai/gpt-5-mini',
    alias: null,
    stream: false,
    status: 200,
    result: 'ok',
    error_code: null,
    usage: USAGE,
    estimated: false,
    cost: '0.01',
    first_content_ms: 20,
    total_ms: 100,
    ...part,
  };
}

describe('the filter line', () => {
  const meets = (text: string, part: Partial<RequestRow> = {}): boolean =>
    matches(row(part), parseFilter(text));

  it.each([
    ['model:openai/*', {}, true],
    ['model:gpt-5*', {}, false],
    ['status:>=400', { status: 503 }, true],
    ['status:>=400', {}, false],
    ['status:4xx', { status: 429 }, true],
    ['-key:web', {}, false],
    ['key:"my key"', { key: { id: 'k', name: 'my key' } }, true],
    ['gpt-5', {}, true],
    ['nothing', {}, false],
    ['ms:>50 key:web', {}, true],
    ['cost:unpriced', { cost: null }, true],
    ['status:>=400', { status: null }, false],
    ['model:', {}, true],
    ['limit:"budget blue"', { refused_by: REFUSED }, true],
    ['limit:*', {}, false],
  ])('%s of %o is %s', (text, part, expected) => {
    expect(meets(text, part)).toBe(expected);
  });

  it('asks the server for what it can tell, and for nothing that a row must decide', () => {
    expect(toServerQuery(parseFilter('status:404 model:a*'))).toEqual({ status: '404' });
    expect(toServerQuery(parseFilter('result:error -status:404 status:>=400'))).toEqual({
      status: 'error',
    });
  });

  it('puts a condition in place of the one of its field, and out again', () => {
    expect(toggleTerm('key:web result:ok', 'result', 'error')).toBe('key:web result:error');
    expect(toggleTerm('key:web result:error', 'result', 'error')).toBe('key:web');
    expect(toggleTerm('', 'key', 'my key')).toBe('key:"my key"');
  });

  it('takes a pattern by its letters', () => {
    expect(meets('model:openai/gpt.5-mini')).toBe(false);
    expect(meets('model:(')).toBe(false);
  });
});

describe('the address of the Requests page', () => {
  it('says what is otherwise than by default, and is read as it was written', () => {
    const view = { ...readView(''), filter: 'status:>=400 key:web', last: '1h', open: 'req_1' };
    expect(writeView(readView(''))).toBe('');
    expect(readView(writeView(view))).toEqual(view);
  });

  it('keeps what it does not know out', () => {
    expect(readView('?last=9y&columns=cost,none&group=x')).toMatchObject({
      last: '24h',
      columns: ['cost'],
      group: '',
    });
  });

  it('shows the requests of one value, whatever it holds', () => {
    for (const name of ['web', 'my key', 'a&b=c#d', 'a:b']) {
      const address = new URL(toRequestsOf('key', name), 'http://localhost');
      const view = readView(address.search);
      expect(view).toMatchObject({ last: '' });
      expect(parseFilter(view.filter)).toEqual([{ field: 'key', value: name, isExcluded: false }]);
    }
    expect(toRequestsOf('provider', 'west', '24h')).toBe('/console/requests?q=provider:west');
  });

  it('puts columns in and out in their own order, never the last one', () => {
    expect(toggleColumn(['time', 'cost'], 'model')).toEqual(['time', 'model', 'cost']);
    expect(toggleColumn(['time'], 'time')).toEqual(['time']);
  });

  it('has a command line of words alone, whatever a link says', () => {
    const filter = 'key:"my key" model:a;b status:$(id)';
    expect(toLogsCommand({ ...readView('?last='), filter })).toBe(
      "gateway logs --follow --key 'my key' --model 'a;b'",
    );
    const open = (id: string) => toLogsCommand({ ...readView(''), open: id });
    expect(open('req_1; id')).toBe("gateway logs 'req_1; id'");
    expect(open('--server=http://other.test')).toBe('gateway logs -- --server=http://other.test');
  });

  it.each([
    ['status:404', ' --status 404'],
    ['result:pending', ' --status pending'],
    ['status:404 result:error', ' --status error'],
    // The command takes none of these.
    ['status:4xx', ''],
    ['status:error', ''],
    ['status:40', ''],
    ['result:none', ''],
    ['-status:404', ''],
    ['status: model: key:', ''],
  ])('has a command line that finds what %j does', (filter, flags) => {
    const view = { ...readView('?last='), filter };
    expect(toLogsCommand(view)).toBe(`gateway logs --follow${flags}`);
  });

  it('has a command line', () => {
    const view = { ...readView(''), filter: 'model:a/b status:>=400 key:web result:error' };
    expect(toLogsCommand(view)).toBe(
      'gateway logs --follow --model a/b --key web --status error --since 24h',
    );
  });
});

describe('rows that come', () => {
  const at = (second: number, id = `req_${second}`, part: Partial<RequestRow> = {}): RequestRow =>
    row({ id, created_at: new Date(second * 1_000).toISOString(), ...part });

  it('stand newest first, each once, the latest word of it', () => {
    const rows = mergeRows([at(3), at(1)], [at(2), at(3, 'req_3', { result: 'error' }), at(4)]);
    expect(rows.map(({ id, result }) => [id, result])).toEqual([
      ['req_4', 'ok'],
      ['req_3', 'error'],
      ['req_2', 'ok'],
      ['req_1', 'ok'],
    ]);
  });

  it('change nothing when they come again', () => {
    const rows = [at(2), at(1)];
    expect(mergeRows(rows, rows)).toEqual(rows);
    expect(mergeRows(rows, [])).toBe(rows);
  });

  it('are as many as a page keeps', () => {
    expect(mergeRows([at(2), at(1)], [at(3)], 2).map(({ id }) => id)).toEqual(['req_3', 'req_2']);
  });

  it('are grouped by conversation with the cost of the whole', () => {
    const rows = [
      at(3, 'a', { conversation: 'conv_1', cost: '0.5' }),
      at(2, 'b', { conversation: 'conv_1', cost: null, result: 'error' }),
      at(1, 'c'),
    ];
    expect(groupConversations(rows)).toMatchObject([
      { id: 'conv_1', requests: 2, errors: 1, unpriced: 1, cost: 0.5 },
    ]);
  });

  it('take the numbers of the whole of their own organization, and say where they have none', () => {
    const rows = ['one', 'two', 'three'].map((organization, index) =>
      at(index + 1, organization, { conversation: 'c', organization, cost: null }),
    );
    const sums = { conversation: 'c', errors: 2, unpriced: 1 };
    const joined = joinWholes(groupConversations(rows), [
      { ...sums, organization: 'one', requests: 9, cost: '1.50' },
      { ...sums, organization: 'two', requests: 1, cost: null },
    ]);
    expect(
      joined.map(({ organization, requests, cost, isWhole }) => [
        organization,
        requests,
        cost,
        isWhole,
      ]),
    ).toEqual([
      ['one', 9, 1.5, true],
      ['two', 1, null, true],
      ['three', 1, null, false],
    ]);
  });
});

describe('the waterfall', () => {
  const failover = row({
    overhead_us: 2_000,
    total_ms: 1_200,
    first_content_ms: 620,
    attempts: [
      {
        provider: 'east',
        model: 'm',
        status: 503,
        outcome: 'status_503',
        ms: 400,
        verdict: 'next route',
      },
      { provider: 'west', model: 'm', status: 200, outcome: 'ok', ms: 218, verdict: 'final' },
    ],
  });

  it('shows the gateway, each attempt with what came of it, and the answer to its end', () => {
    const { spans, total } = toWaterfall(failover, 0);
    expect(total).toBe(1_200);
    expect(spans.map(({ name, kind, from, to }) => [name, kind, from, to])).toEqual([
      ['gateway', 'gateway', 0, 2],
      ['east', 'failed', 2, 402],
      ['west', 'answered', 402, 1_200],
    ]);
    expect(spans[1]?.note).toBe('503 · next route');
    expect(spans[2]?.content).toBe(620);
  });

  it('shows what waited before a refusal', () => {
    const refused = row({
      result: 'error',
      status: 429,
      total_ms: 100,
      overhead_us: 1_000,
      first_content_ms: null,
    });
    expect(toWaterfall(refused, 0).spans[0]).toMatchObject({ name: 'waiting', from: 0, to: 99 });
  });

  it('lasts until now while the request is under way', () => {
    const open = row({ result: 'pending', total_ms: null, first_content_ms: null });
    const { spans, total } = toWaterfall(open, Date.parse(open.created_at) + 5_000);
    expect(total).toBe(5_000);
    expect(spans.at(-1)).toMatchObject({ kind: 'open', to: 5_000 });
  });

  it('has an axis from 2 ms to 20 min', () => {
    expect(ticksOf(1_200, false)).toEqual([0, 500, 1_000]);
    expect(ticksOf(1_200_000, true)[0]).toBe(0);
    expect(placeOf(2, 1_200_000, true)).toBeGreaterThan(0.05);
    expect(placeOf(2, 1_200_000, false)).toBeLessThan(0.001);
    for (const total of [0.1, 2, 37, 1_200_000])
      expect(ticksOf(total, false).length).toBeLessThanOrEqual(6);
  });
});

describe('copy as curl', () => {
  it('names the path of the surface and no key', () => {
    const text = toCurl(row({ surface: 'messages' }), 'http://localhost:1');
    expect(text).toContain('http://localhost:1/v1/messages');
    expect(text).toContain('Bearer $GATEWAY_API_KEY');
  });

  it('quotes its address', () => {
    const asked = row({ surface: 'generate-content', alias: "a'b" });
    expect(toCurl(asked, 'http://localhost:1')).toContain(
      String.raw`curl 'http://localhost:1/v1beta/models/a'\''b:generateContent'`,
    );
  });

  it('quotes what a shell would read', () => {
    const content = { request: `{"a":"it's"}`, response: '' };
    expect(toCurl(row({ content }), '')).toContain(`'{"a":"it'\\''s"}'`);
  });
});
