import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cronFault,
  cronInNumbers,
  isTimeZone,
  latestInstant,
  nextInstant,
  upcomingInstants,
} from '../../../src/core/time/cron.ts';
import { verifies } from '../../requirements.ts';
import { runsOf } from '../../runs.ts';
import { CHANGING_ZONES, expressions, FIXED_ZONES, instants } from '../cron-arbitraries.ts';
import { CHANGES, changesNear, firesByHand, valuesOf } from '../cron-by-hand.ts';

const HOUR = 3_600_000;
const firing = expressions.filter((expression) => cronFault(expression) === undefined);

function next(...[expression, timezone, after, count = 3]: [string, string, string, number?]) {
  const found = upcomingInstants({ expression, timezone }, Date.parse(after), count);
  return found.map((at) => new Date(at).toISOString().slice(0, 16));
}

describe('the cron dialect', () => {
  it.each([
    '* * * * *',
    '0 7 * * 1-5',
    '0,30 8-18/2 1,15 */3 0',
    '59 23 31 12 7',
    '00 07 * * 5-7',
    ' 0  7 * *\t1 ',
    '0 0 29 2 *',
    '30 2 31 2 1',
    '5,5,3-9 1 1-31 1-12 *',
  ])(verifies('deployments.schedule.cron-dialect', 'takes %s'), (expression) => {
    expect(cronFault(expression)).toBeUndefined();
    expect(nextInstant({ expression, timezone: 'UTC' }, Date.UTC(2026, 0, 1))).toBeGreaterThan(0);
  });

  it.each([
    '',
    '* * * *',
    '0 * * * * *',
    '0 0 * * * * 2027',
    '@daily',
    '@reboot',
    '0 0 L * *',
    '0 0 15W * *',
    '0 0 * * 1#2',
    '0 0 * * 5L',
    '0 0 ? * *',
    '0 9 * * MON',
    '0 9 * JAN *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * 0 *',
    '* * * * 8',
    '*/0 * * * *',
    '*/60 * * * *',
    '5/15 * * * *',
    '30-10 * * * *',
    '1,,2 * * * *',
    '-1 * * * *',
    '+1 * * * *',
    '1.5 * * * *',
    '* * * * *; rm',
    `${'1,'.repeat(300)}1 * * * *`,
  ])(verifies('deployments.schedule.cron-dialect', 'refuses %s'), (expression) => {
    expect(cronFault(expression)).toEqual(expect.any(String));
  });

  it.each([
    ['@daily', '0 0 * * *'],
    ['@Midnight', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['0 7 * * MON', '0 7 * * 1'],
    ['0 7 * * Mon-Fri', '0 7 * * 1-5'],
    ['0 7 * * sunday,3', '0 7 * * 0,3'],
    ['0 7 * * SAT-SUN', '0 7 * * 6-7'],
    ['0 7 * * FRI-MON', '0 7 * * 5-7,1'],
    ['0 7 * * MON-FRI/2', '0 7 * * 1-5/2'],
    ['0 7 1 JAN *', '0 7 1 1 *'],
    ['0 7 1 november-feb *', '0 7 1 11-12,1-2 *'],
    ['0 0 ? * 1', '0 0 * * 1'],
    ['5/15 * * * *', '5-59/15 * * * *'],
    ['0 30 7 * * MON', '30 7 * * 1'],
    ['0 30 7 ? * MON *', '30 7 * * 1'],
  ])('says what to write in place of %s', (expression, numbers) => {
    verifies('deployments.schedule.cron-dialect', 'says what to write');
    expect(cronFault(expression)).toMatch(/; write `[^`]+` in its place$/);
    expect(cronFault(expression)).toContain(`write \`${numbers}\` in its place`);
    expect(cronInNumbers(expression)).toBe(numbers);
    expect(cronFault(numbers)).toBeUndefined();
  });

  it.each([
    '@reboot',
    '0 0 L * *',
    '0 9 * * MONDY',
    '0 9 * * FRI-MON/2',
    '5 0 0 7 * *',
    '0 0 30 FEB *',
  ])('has nothing to write in place of %s', (expression) => {
    expect(cronFault(expression)).not.toContain('in its place');
    expect(cronInNumbers(expression)).toBeUndefined();
  });

  it.each(['30 2 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *'])(
    'refuses %s, which never fires',
    (expression) => {
      expect(cronFault(expression)).toContain('never');
    },
  );

  it('says of every expression whether it is one, without failing', () => {
    const texts = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.stringMatching(/^[\d*,/\- ]{0,30}$/),
      fc
        .array(fc.stringMatching(/^[\d*,/\-LW#?]{0,6}$/), { minLength: 5, maxLength: 5 })
        .map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(texts, (expression) => {
        if (cronFault(expression) !== undefined) return;
        expect(nextInstant({ expression, timezone: 'UTC' }, 0)).toBeGreaterThan(0);
      }),
      { numRuns: runsOf(300, 1_000) },
    );
  });
});

describe('time zones', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'EST5EDT'])(
    'are names of the IANA database: %s',
    (name) => expect(isTimeZone(name)).toBe(true),
  );

  it.each([
    '',
    '+02:00',
    'UTC+2',
    'PST',
    'IST',
    'Z',
    'Berlin',
    'Mars/Olympus',
    ' UTC',
    'SystemV/PST8',
  ])('are nothing else: `%s`', (name) => expect(isTimeZone(name)).toBe(false));
});

describe('the instants of an expression', () => {
  it(
    verifies('scheduler.dst', 'come once when the clock skips them and once when it repeats them'),
    () => {
      const daily = '30 2 * * *';
      expect(next(daily, 'Europe/Berlin', '2026-03-28T12:00Z')).toEqual([
        '2026-03-29T01:00',
        '2026-03-30T00:30',
        '2026-03-31T00:30',
      ]);
      expect(next(daily, 'Europe/Berlin', '2026-10-24T12:00Z')).toEqual([
        '2026-10-25T00:30',
        '2026-10-26T01:30',
        '2026-10-27T01:30',
      ]);
      expect(next(daily, 'America/New_York', '2026-03-07T12:00Z', 2)).toEqual([
        '2026-03-08T07:00',
        '2026-03-09T06:30',
      ]);
      expect(next('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', 2)).toEqual([
        '2026-11-01T05:30',
        '2026-11-02T06:30',
      ]);
      expect(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00Z', 2)).toEqual([
        '2026-10-03T15:30',
        '2026-10-04T15:15',
      ]);
      expect(next('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00Z', 2)).toEqual([
        '2026-04-04T14:45',
        '2026-04-05T15:15',
      ]);
    },
  );

  it('come once for all that lies in a skipped hour', () => {
    expect(next('*/15 2,3 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', 4)).toEqual([
      '2026-03-29T01:00',
      '2026-03-29T01:15',
      '2026-03-29T01:30',
      '2026-03-29T01:45',
    ]);
  });

  it('follow the hours that pass when every hour is meant', () => {
    expect(next('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30Z', 4)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T01:00',
      '2026-10-25T02:00',
      '2026-10-25T03:00',
    ]);
    expect(next('30 0-23 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:30',
      '2026-03-29T02:30',
    ]);
  });

  it('come in leap years and at the ends of months alone where there is such a day', () => {
    expect(next('0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', 2)).toEqual([
      '2028-02-29T00:00',
      '2032-02-29T00:00',
    ]);
    expect(next('0 0 29 2 *', 'UTC', '2096-03-01T00:00Z', 1)).toEqual(['2104-02-29T00:00']);
    expect(next('0 0 31 * *', 'UTC', '2026-01-31T00:00Z', 3)).toEqual([
      '2026-03-31T00:00',
      '2026-05-31T00:00',
      '2026-07-31T00:00',
    ]);
  });

  it('lie strictly behind where they are looked for, by the millisecond', () => {
    const schedule = { expression: '0 7 * * *', timezone: 'UTC' };
    const seven = Date.UTC(2026, 10, 21, 7);
    expect(nextInstant(schedule, seven - 1)).toBe(seven);
    expect(nextInstant(schedule, seven)).toBe(seven + 24 * HOUR);
    expect(nextInstant(schedule, seven + 1)).toBe(seven + 24 * HOUR);
    expect(latestInstant(schedule, { after: seven - 1, until: seven })).toBe(seven);
    expect(latestInstant(schedule, { after: seven, until: seven + 1 })).toBeUndefined();
    expect(latestInstant(schedule, { after: 0, until: seven - 1 })).toBe(seven - 24 * HOUR);
  });

  it('are the latest of those that were passed', () => {
    const zones = fc.constantFrom(...FIXED_ZONES, ...CHANGING_ZONES);
    const behind = fc.integer({ min: 0, max: 72 * HOUR });
    fc.assert(
      fc.property(
        firing,
        fc.oneof(fc.tuple(zones, instants), fc.constantFrom(...CHANGES)),
        behind,
        (expression, [timezone, at], ms) => {
          const schedule = { expression, timezone };
          const passed = upcomingInstants(schedule, at, 3);
          const until = (passed.at(-1) ?? at) + (ms % HOUR);
          const latest = latestInstant(schedule, { after: at, until });
          expect(latest).toBeGreaterThanOrEqual(passed.at(-1) ?? 0);
          expect(nextInstant(schedule, latest ?? 0)).toBeGreaterThan(until);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('beside other ways to compute them', () => {
  it(
    verifies('scheduler.dst', 'they are those of a wall clock that is read minute by minute'),
    { timeout: 30_000 },
    () => {
      fc.assert(
        fc.property(firing, fc.constantFrom(...CHANGES), (expression, change) => {
          const { timezone, minutes } = changesNear(change);
          const first = minutes[0]?.at ?? 0;
          const last = minutes.at(-1)?.at ?? 0;
          const expected = firesByHand(expression, minutes);
          const found = upcomingInstants({ expression, timezone }, first, expected.length + 1);
          expect(found.filter((at) => at <= last)).toEqual(expected);
        }),
        { numRuns: runsOf(30, 100) },
      );
    },
  );

  it(
    'they are those of cron-parser in zones whose clocks never change',
    { timeout: 30_000 },
    () => {
      fc.assert(
        fc.property(
          firing,
          fc.constantFrom(...FIXED_ZONES),
          instants,
          (expression, zone, after) => {
            expect(upcomingInstants({ expression, timezone: zone }, after, 3)).toEqual(
              byParser(expression, zone, after),
            );
          },
        ),
        { numRuns: 100 },
      );
    },
  );

  // It runs what a change skips as much later as the clock moves, and not at the end of the gap; in
  // zones that change by half an hour it finds no way out of the repeated one.
  it(
    'they are those of cron-parser where clocks change, but for the day of a skipped hour',
    { timeout: 30_000 },
    () => {
      const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Pacific/Auckland');
      fc.assert(
        fc.property(firing, zones, instants, (expression, zone, after) => {
          const ours = upcomingInstants({ expression, timezone: zone }, after, 3);
          const theirs = byParser(expression, zone, after);
          const firstSkip = [...ours, ...theirs]
            .sort((a, b) => a - b)
            .find((at) => skips(zone, at));
          const before = (at: number): boolean => at < (firstSkip ?? Infinity);
          expect(ours.filter(before)).toEqual(theirs.filter(before));
        }),
        { numRuns: runsOf(20, 60) },
      );
      const hours = fc.constantFrom('1', '2', '1,2,3', '0-4/2', '*/3', '*');
      const minutes = fc.constantFrom('0', '30', '*/20', '7,42');
      fc.assert(
        fc.property(minutes, hours, fc.nat(20), (minute, hour, before) => {
          for (const [zone, at] of [
            ['Europe/Berlin', Date.UTC(2026, 9, 25, 0)],
            ['America/New_York', Date.UTC(2026, 10, 1, 5)],
          ] as const) {
            const after = at - before * HOUR;
            const expression = `${minute} ${hour} * * *`;
            const expected = byParser(expression, zone, after, 12);
            expect(upcomingInstants({ expression, timezone: zone }, after, 12)).toEqual(expected);
          }
        }),
        { numRuns: 25 },
      );
    },
  );
});

/** A list with a value twice is none there. */
function byParser(...[expression, tz, after, count = 3]: [string, string, number, number?]) {
  const fields = expression.split(' ').map((field, index) => {
    if (!field.includes(',')) return field;
    return [...valuesOf(field, index)].join();
  });
  const parsed = CronExpressionParser.parse(fields.join(' '), { currentDate: new Date(after), tz });
  return parsed.take(count).map((date) => date.toDate().getTime());
}

/** Whether the clock moves forward within a day of an instant. */
function skips(timeZone: string, at: number): boolean {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const offset = (time: number): number => {
    const name =
      format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', rest = '0'] = /GMT([+-])(\d+):(\d+)/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(rest));
  };
  return offset(at - 25 * HOUR) < offset(at + 25 * HOUR);
}
