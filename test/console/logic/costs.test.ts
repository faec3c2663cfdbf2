import { describe, expect, it } from 'vitest';
import {
  daysBetween,
  expectedOfDay,
  toCsv,
  toRows,
  toSeries,
} from '../../../src/console/logic/cost-series.ts';
import type { UsageSum } from '../../../src/console/logic/cost-series.ts';
import {
  dimensionOf,
  listDimensions,
  NOBODY,
  readCosts,
  toRange,
  toSum,
  toUsageCommand,
  writeCosts,
} from '../../../src/console/logic/costs-view.ts';
import type { Dimension } from '../../../src/console/logic/costs-view.ts';

const sum = (value: string, cost: number, part: Partial<UsageSum> = {}): UsageSum => ({
  day: '2026-11-01',
  value,
  name: value,
  cost,
  unpriced: 0,
  requests: 1,
  errors: 0,
  input: 1,
  output: 2,
  ...part,
});

describe('sums by value', () => {
  it('are added up over all days', () => {
    const sums = [
      sum('a', 1, { errors: 1, unpriced: 2 }),
      sum('a', 2, { day: '2026-11-02', requests: 4, input: 5, output: 6 }),
    ];
    expect(toRows(sums)).toEqual([
      {
        value: 'a',
        name: 'a',
        cost: 3,
        requests: 5,
        errors: 1,
        unpriced: 2,
        input: 6,
        output: 8,
        share: 1,
      },
    ]);
  });

  it('stand by cost, then by requests, then by name', () => {
    const sums = [sum('d', 0), sum('c', 0), sum('b', 0, { requests: 2 }), sum('a', 1)];
    expect(toRows(sums).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('have no share where nothing cost anything', () => {
    expect(toRows([sum('a', 0)])[0]?.share).toBe(0);
    expect(toRows([sum('a', 1), sum('b', 3)]).map(({ share }) => share)).toEqual([0.75, 0.25]);
  });
});

describe('series of costs', () => {
  const days = ['2026-11-01', '2026-11-02'];

  it('leave out values that cost nothing, and days that are not shown', () => {
    const sums = [sum('a', 1), sum('b', 0), sum('a', 5, { day: '2026-10-31', unpriced: 3 })];
    expect(toSeries(sums, days)).toEqual({
      days,
      series: [{ value: 'a', name: 'a', costs: [1, 0] }],
      unpriced: [0, 0],
    });
  });

  it('have others only where there are more values than lines', () => {
    const names = (most: number) =>
      toSeries([sum('a', 3), sum('b', 2), sum('c', 0)], days, most).series.map(({ name }) => name);
    expect(names(2)).toEqual(['a', 'b']);
    expect(names(1)).toEqual(['a', 'others']);
  });

  it('add what comes twice for one day', () => {
    const { series, unpriced } = toSeries(
      [sum('a', 1, { unpriced: 1 }), sum('a', 2, { unpriced: 1 })],
      days,
    );
    expect(series[0]?.costs).toEqual([3, 0]);
    expect(unpriced).toEqual([2, 0]);
  });

  it('have every day of their range', () => {
    expect(daysBetween('2026-02-27', '2026-03-01')).toEqual([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
    ]);
    expect(daysBetween('2026-03-01', '2026-03-01')).toEqual(['2026-03-01']);
    expect(daysBetween('2026-03-02', '2026-03-01')).toEqual([]);
  });
});

describe('the days that are left of a month', () => {
  const forecast = { month: '2026-12', spent: '10.00', cost: '20.00' };

  it('share what is expected', () => {
    expect(expectedOfDay(forecast, Date.parse('2026-12-31T00:00:00Z'))).toBe(10);
    expect(expectedOfDay(forecast, Date.parse('2026-12-22T00:00:00Z'))).toBe(1);
  });

  it('are none at its end, and cost nothing where no more is expected', () => {
    expect(expectedOfDay(forecast, Date.parse('2027-01-01T00:00:00Z'))).toBe(0);
    expect(expectedOfDay({ ...forecast, cost: '9.00' }, Date.UTC(2026, 11, 5))).toBe(0);
    expect(expectedOfDay({ ...forecast, spent: null }, Date.UTC(2026, 11, 5))).toBe(0);
    expect(expectedOfDay({ ...forecast, cost: null }, Date.UTC(2026, 11, 5))).toBe(0);
  });
});

describe('a table as CSV', () => {
  it.each([
    ['a', 'a'],
    [1.5, '1.5'],
    [-2, '-2'],
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    ['=1', "'=1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['\ta', "'\ta"],
    ['a=1', 'a=1'],
    ['', ''],
  ])('holds the cell %j', (value, cell) => {
    expect(toCsv(['h'], [[value, 'z']])).toBe(`h\r\n${cell},z\r\n`);
  });
});

describe('dimensions of costs', () => {
  it('are those of the page and the labels and tags of the gateway', () => {
    expect(dimensionOf('model')).toMatchObject({ title: 'Model', field: 'model' });
    expect(dimensionOf('label:a:b')).toEqual({ id: 'label:a:b', title: 'Label a:b' });
    expect(dimensionOf('tag:x')).toEqual({ id: 'tag:x', title: 'Tag x' });
    for (const none of ['', 'label:', 'other:x', 'labels:x'])
      expect(dimensionOf(none)).toBeUndefined();
    const ids = listDimensions(['model', 'tag:x'], true).map(({ id }) => id);
    expect(ids).toContain('organization');
    expect(ids.filter((id) => id === 'model')).toHaveLength(1);
    expect(ids.at(-1)).toBe('tag:x');
  });

  it('name the requests without a value', () => {
    const usage = {
      input_tokens: 1,
      cache_read_tokens: 2,
      cache_write_5m_tokens: 4,
      cache_write_1h_tokens: 8,
      output_tokens: 16,
      reasoning_tokens: 32,
      images: 0,
      seconds: 0,
    };
    const row = { requests: 3, errors: 1, cost: null, usage };
    const by = dimensionOf('key') as Dimension;
    expect(toSum({ ...row, key: null }, by)).toEqual({
      day: '',
      value: '',
      name: NOBODY,
      requests: 3,
      errors: 1,
      unpriced: 0,
      cost: 0,
      input: 15,
      output: 16,
    });
    const told = {
      ...row,
      key: 'key_1',
      key_name: 'ci',
      day: '2026-11-01',
      cost: '0.5',
      unpriced: 2,
    };
    expect(toSum(told, by)).toMatchObject({
      value: 'key_1',
      name: 'ci',
      day: '2026-11-01',
      cost: 0.5,
      unpriced: 2,
    });
    expect(toSum({ ...row, key: 'key_1' }, by)).toMatchObject({ name: 'key_1' });
  });
});

describe('the address of the Costs page', () => {
  const today = '2026-02-10';
  const rangeOf = (search: string) => {
    const { first, last } = readCosts(search, today);
    return [first, last];
  };

  it.each([
    ['', ['2026-02-01', '2026-02-28']],
    ['?period=30d', ['2026-01-12', '2026-02-10']],
    ['?period=90d', ['2025-11-13', '2026-02-10']],
    ['?period=9y', ['2026-02-01', '2026-02-28']],
    ['?from=2026-02-03', ['2026-02-03', '2026-02-28']],
    ['?to=2026-02-03', ['2026-02-01', '2026-02-03']],
    ['?from=yesterday&to=2026-2-3', ['2026-02-01', '2026-02-28']],
  ])('%s shows %j', (search, range) => expect(rangeOf(search)).toEqual(range));

  it('falls back to the models', () => {
    expect(readCosts('?by=nothing', today).by.id).toBe('model');
  });

  it('leaves the days out where they are those of the chart', () => {
    const view = readCosts('?by=agent&period=30d', today);
    expect(writeCosts(view, today)).toBe('?by=agent&period=30d');
    expect(writeCosts({ ...view, last: '2026-02-01' }, today)).toBe(
      '?by=agent&period=30d&from=2026-01-12&to=2026-02-01',
    );
  });

  it('has ends that reports exclude, and a command line', () => {
    expect(toRange('2026-02-01', '2026-02-28')).toEqual({ from: '2026-02-01', to: '2026-03-01' });
    expect(toUsageCommand(readCosts('', today))).toBe('gateway usage --by model --month 2026-02');
    expect(toUsageCommand(readCosts('?period=30d', today))).toBe(
      'gateway usage --by model --from 2026-01-12 --to 2026-02-11',
    );
    expect(toUsageCommand(readCosts('?from=2026-02-02', today))).toBe(
      'gateway usage --by model --from 2026-02-02 --to 2026-03-01',
    );
  });
});
