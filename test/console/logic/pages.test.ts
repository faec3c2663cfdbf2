import { describe, expect, it } from 'vitest';
import { localTime, toCalendar, weekOf, zoned } from '../../../src/console/logic/calendar.ts';
import type { CalendarMark } from '../../../src/console/logic/calendar.ts';
import { toPlanRows } from '../../../src/console/logic/configuration-check.ts';
import { expectedOfDay, toCsv, toRows, toSeries } from '../../../src/console/logic/cost-series.ts';
import type { UsageSum } from '../../../src/console/logic/cost-series.ts';
import {
  listDimensions,
  readCosts,
  toUsageCommand,
  writeCosts,
} from '../../../src/console/logic/costs-view.ts';
import { orderWithout, priceOf } from '../../../src/console/logic/explain-routes.ts';
import { findCommands } from '../../../src/console/logic/find-commands.ts';
import * as format from '../../../src/console/logic/format.ts';
import { toKeyBody, toKeyCommand } from '../../../src/console/logic/key-recipes.ts';
import { toPatch } from '../../../src/console/logic/line-diff.ts';
import { toTimeline, waitingTools } from '../../../src/console/logic/session-timeline.ts';
import { toEntry } from '../../../src/console/logic/to-yaml.ts';
import { WIRE_PROTOCOLS, parseTools } from '../../../src/console/logic/wire-requests.ts';

describe('words for numbers', () => {
  it.each([
    [format.duration(0.4), '0.4 ms'],
    [format.duration(42), '42 ms'],
    [format.duration(1_234), '1.2 s'],
    [format.duration(9_980), '10 s'],
    [format.duration(184_000), '3 min 4 s'],
    [format.duration(7_500_000), '2 h 5 min'],
    [format.duration(null), '–'],
    [format.money('0.00'), '$0'],
    [format.money('0.0042'), '$0.0042'],
    [format.money('0.000002'), '$0.000002'],
    [format.money('1234.5'), '$1,235'],
    [format.money(null), 'unpriced'],
    [format.money(-2), '-$2.00'],
    [format.count(1_234_567), '1,234,567'],
    [format.compact(12_345), '12.3 k'],
    [format.compact(4_100_000), '4.1 M'],
    [format.percent(0.098), '9.8 %'],
    [format.relative(0, 4_500), '4 s ago'],
    [format.relative(7_200_000, 0), 'in 2 h'],
    [format.counted(1, 'turn'), '1 turn'],
    [format.counted(2, 'turn'), '2 turns'],
  ])('%s is %s', (shown, expected) => expect(shown).toBe(expected));
});

describe('costs', () => {
  const sum = (day: string, name: string, ...[cost, unpriced = 0]: number[]): UsageSum => ({
    day,
    value: name,
    name,
    cost: cost ?? 0,
    unpriced,
    requests: 1,
    errors: 0,
    input: 1,
    output: 1,
  });

  it('are stacked by the dearest values, the rest together', () => {
    const sums = ['a', 'b', 'c'].map((name, index) => sum('2026-11-02', name, 3 - index));
    const { series } = toSeries(sums, ['2026-11-01', '2026-11-02'], 2);
    expect(series).toEqual([
      { value: 'a', name: 'a', costs: [0, 3] },
      { value: 'b', name: 'b', costs: [0, 2] },
      { value: 'the others', name: 'others', costs: [0, 1] },
    ]);
  });

  it('keep what is unpriced apart', () => {
    const sums = [sum('2026-11-01', 'a', 0, 2), sum('2026-11-01', 'b', 1)];
    expect(toSeries(sums, ['2026-11-01']).unpriced).toEqual([2]);
    expect(toRows(sums).map(({ name, unpriced, share }) => [name, unpriced, share])).toEqual([
      ['b', 0, 1],
      ['a', 2, 0],
    ]);
  });

  it('go on as the forecast of the month says, and are not guessed where it says nothing', () => {
    const forecast = { month: '2026-11', spent: '20.00', cost: '60.00' };
    const now = Date.parse('2026-11-11T00:00:00Z');
    expect(expectedOfDay(forecast, now)).toBeCloseTo(2);
    expect(expectedOfDay({ ...forecast, spent: null, cost: null }, now)).toBe(0);
  });

  it('of two values of one name stay apart', () => {
    const two = ['a', 'b'].map((value) => ({ ...sum('2026-11-01', value, 1), name: 'web' }));
    expect(toRows(two).map(({ name, cost }) => [name, cost])).toEqual([
      ['web', 1],
      ['web', 1],
    ]);
  });

  it('are saved without formulas', () => {
    expect(toCsv(['a', 'b'], [['=1+1', 'x,"y"']])).toBe(`a,b\r\n'=1+1,"x,""y"""\r\n`);
  });

  it('have an address', () => {
    const view = { ...readCosts('?by=key', '2026-11-23'), first: '2026-11-02', last: '2026-11-03' };
    expect(readCosts(writeCosts(view, '2026-11-23'), '2026-11-23')).toEqual(view);
    expect(view).toMatchObject({ chartFirst: '2026-11-01', chartLast: '2026-11-30' });
    expect(toUsageCommand(view)).toBe('gateway usage --by key --from 2026-11-02 --to 2026-11-04');
    expect(toUsageCommand(readCosts('?by=label:team', '2026-11-23'))).toBe(
      'gateway usage --by label:team --month 2026-11',
    );
  });

  it('are told by what the gateway sums them by', () => {
    const titles = listDimensions(['model', 'label:team', 'tag:feature'], false).map(
      ({ title }) => title,
    );
    expect(titles.slice(-3)).toEqual(['Schedule', 'Label team', 'Tag feature']);
    expect(titles).not.toContain('Organization');
  });
});

describe('the calendar', () => {
  const mark = (at: string): CalendarMark => ({
    id: at,
    at: Date.parse(at),
    name: 'report',
    kind: 'next',
    late: undefined,
    session: null,
  });

  it('reads the clocks of a zone', () => {
    expect(localTime(Date.parse('2026-11-23T06:00:00Z'), 'Europe/Berlin')).toEqual({
      day: '2026-11-23',
      minute: 420,
    });
    expect(zoned(Date.parse('2026-11-23T06:00:00Z'), 'Europe/Berlin')).toBe('Mon 23 Nov 07:00');
  });

  it('has a week from Monday', () => {
    expect(weekOf(Date.parse('2026-11-29T12:00:00Z'), 'UTC')[0]).toBe('2026-11-23');
    expect(weekOf(Date.parse('2026-11-23T12:00:00Z'), 'UTC', -1)[0]).toBe('2026-11-16');
  });

  it('marks the days on which the clocks change', () => {
    const days = toCalendar(['2026-10-24', '2026-10-25', '2026-03-29'], [], 'Europe/Berlin');
    expect(days.map(({ clockChange }) => clockChange)).toEqual([0, -60, 60]);
  });

  it('puts marks that would cover each other side by side', () => {
    const [day] = toCalendar(
      ['2026-11-23'],
      ['2026-11-23T06:00:00Z', '2026-11-23T06:10:00Z', '2026-11-23T09:00:00Z'].map(mark),
      'UTC',
    );
    expect(day?.marks.map(({ lane, lanes }) => [lane, lanes])).toEqual([
      [0, 2],
      [1, 2],
      [0, 1],
    ]);
  });
});

describe('the timeline of a Session', () => {
  const event = (id: string, type: string, rest: object = {}) => ({
    id,
    type,
    processed_at: '2026-11-23T10:00:00.000Z',
    ...rest,
  });
  const asking = [
    event('1', 'user.message', { content: [{ type: 'text', text: 'Where?' }] }),
    event('2', 'agent.mcp_tool_use', {
      name: 'find',
      mcp_server_name: 'orders',
      input: { id: 'A' },
      evaluated_permission: 'ask',
    }),
    event('3', 'span.model_request_end', { model_usage: { input_tokens: 5, output_tokens: 2 } }),
    event('4', 'session.status_idle', {
      stop_reason: { type: 'requires_action', event_ids: ['2'] },
    }),
  ];

  it('shows a call that waits, with its arguments', () => {
    const turns = toTimeline(asking);
    expect(waitingTools(turns)).toMatchObject([
      { id: '2', name: 'find', server: 'orders', input: { id: 'A' } },
    ]);
    expect(turns).toMatchObject([{ modelRequests: 1, inputTokens: 5, outputTokens: 2 }]);
  });

  it('shows what became of it, each event once', () => {
    const events = [
      ...asking,
      event('5', 'user.tool_confirmation', { tool_use_id: '2', result: 'allow' }),
      event('6', 'agent.mcp_tool_result', {
        mcp_tool_use_id: '2',
        content: [{ type: 'text', text: 'shipped' }],
      }),
      event('7', 'agent.message', { content: [{ type: 'text', text: 'It is shipped.' }] }),
      event('8', 'session.status_idle', { stop_reason: { type: 'end_turn' } }),
    ];
    const [turn] = toTimeline([...events, ...events]);
    expect(turn?.blocks.map(({ kind }) => kind)).toEqual(['user', 'tool', 'agent']);
    expect(turn?.blocks[1]).toMatchObject({ state: 'done', result: 'shipped' });
    expect(waitingTools(toTimeline(events))).toEqual([]);
  });

  it('keeps a denied call denied, and marks a takeover and an error', () => {
    const turns = toTimeline([
      ...asking,
      event('5', 'user.tool_confirmation', { tool_use_id: '2', result: 'deny' }),
      event('6', 'agent.mcp_tool_result', { mcp_tool_use_id: '2', is_error: true, content: [] }),
      event('7', 'session.error', { error: { message: 'worker lost' } }),
      event('8', 'session.status_rescheduled'),
    ]);
    expect(turns[0]?.blocks).toMatchObject([
      { kind: 'user' },
      { kind: 'tool', state: 'denied' },
      { kind: 'mark', tone: 'bad', text: 'worker lost' },
      { kind: 'mark', tone: 'warn' },
    ]);
  });
});

describe('the palette', () => {
  it('finds by letters in their order, the tightest first', () => {
    const items = [{ title: 'Go to Services' }, { title: 'Go to Sessions' }, { title: 'Sign out' }];
    expect(findCommands(items, 'sess').map(({ title }) => title)).toEqual(['Go to Sessions']);
    expect(findCommands(items, 'sgn')[0]?.title).toBe('Sign out');
    expect(findCommands(items, 'zzz')).toEqual([]);
  });
});

describe('a new key', () => {
  const form = {
    name: ' ci ',
    isLimited: true,
    scopes: ['inference'],
    role: 'operator' as const,
    day: '5',
    month: '',
    days: '30',
    models: 'a/*, b',
  };

  it('is asked for with what was said alone', () => {
    expect(toKeyBody(form, 0)).toEqual({
      name: 'ci',
      scopes: ['inference'],
      role: 'operator',
      spending_limit: { day: '5' },
      expires_at: '1970-01-31T00:00:00.000Z',
      allowed_models: ['a/*', 'b'],
    });
  });

  it('has a command line', () => {
    expect(toKeyCommand(form)).toBe(
      "gateway keys create ci --scope inference --role operator --spending-limit-day 5 --expires-in 30d --allowed-model 'a/*' --allowed-model b",
    );
  });
});

describe('configuration', () => {
  it('becomes a patch that git applies', () => {
    expect(toPatch('gateway.yaml', 'a\nb\nc', 'a\nx\nc')).toBe(
      '--- a/gateway.yaml\n+++ b/gateway.yaml\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n',
    );
    expect(toPatch('gateway.yaml', 'a', 'a')).toBe('');
  });

  it('is written as an entry without what the gateway keeps by itself', () => {
    const text = toEntry({
      id: 'x',
      name: 'a/b',
      version: 1,
      labels: {},
      on: true,
      routes: [{ provider: 'west', n: '1' }],
      none: null,
    });
    expect(text).toBe(
      '- name: a/b\n  "on": true\n  routes:\n    - provider: west\n      "n": "1"\n',
    );
  });

  it('shows a plan line by line, with drift', () => {
    const changes = [{ path: 'weight', old: 1, new: 2, origin: 'server' }];
    const plan = {
      actions: [{ kind: 'model', identity: 'a', action: 'update', reason: '', changes }],
    };
    expect(toPlanRows({ diagnostics: [], plan })).toMatchObject([
      {
        action: 'update',
        object: 'model a',
        field: 'weight',
        before: '1',
        after: '2',
        isDrift: true,
      },
    ]);
  });
});

describe('explain', () => {
  it('moves the others up where a provider fails', () => {
    const line = (provider: string) => ({ provider }) as never;
    expect(orderWithout([line('east'), line('west')], ['east']).map(({ place }) => place)).toEqual([
      undefined,
      1,
    ]);
  });

  it('shows what is free as nothing, and what nobody knows as unknown', () => {
    const none = { currency: 'USD', input: null, output: null, per_call: null };
    expect(priceOf({ ...none, per_call: '0.00' }, 'input')).toBe('0');
    expect(priceOf({ ...none, input: '1.25' }, 'input')).toBe('1.25');
    expect(priceOf({ ...none, input: '1.25' }, 'output')).toBe('0');
    expect(priceOf(none, 'input')).toBeNull();
    expect(priceOf(undefined, 'input')).toBeUndefined();
  });
});

describe('the playground', () => {
  const picture = { type: 'image/png', data: 'AAAA' };
  const prompt = {
    model: 'm',
    system: 's',
    text: 't',
    picture,
    tools: [{ name: 'f' }],
    isStream: true,
  };

  it.each(WIRE_PROTOCOLS.map((one) => [one.id, one] as const))(
    'asks in %s with picture and tools',
    (id, protocol) => {
      const text = JSON.stringify(protocol.body(prompt));
      expect(text).toContain('AAAA');
      expect(text).toContain('"f"');
      expect(text.includes('"stream":true') || protocol.path('m', true).includes('stream')).toBe(
        true,
      );
      expect(protocol.path('m', false)).toMatch(
        id === 'generate-content' ? /^\/v1beta/ : /^\/v1\//,
      );
    },
  );

  it('says what is wrong with tools', () => {
    expect(parseTools('')).toEqual([]);
    expect(() => parseTools('[{}]')).toThrow('each needs a name');
  });
});
