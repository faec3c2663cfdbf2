import { describe, expect, it } from 'vitest';
import {
  localTime,
  toCalendar,
  toRunMark,
  weekOf,
  zoned,
} from '../../../src/console/logic/calendar.ts';
import { verifies } from '../../requirements.ts';
import type { CalendarMark } from '../../../src/console/logic/calendar.ts';

const mark = (at: string): CalendarMark => ({
  id: at,
  at: Date.parse(at),
  name: 'report',
  kind: 'completed',
  late: 0,
  session: null,
});
const placesOf = (...times: string[]) =>
  toCalendar(
    ['2026-11-23'],
    times.map((time) => mark(`2026-11-23T${time}:00Z`)),
    'UTC',
  )[0]?.marks.map(({ minute, lane, lanes }) => [minute, lane, lanes]);

describe('the clocks of a zone', () => {
  it.each([
    ['2026-11-23T23:59:59Z', 'UTC', '2026-11-23', 1_439],
    ['2026-11-23T00:00:00Z', 'UTC', '2026-11-23', 0],
    ['2026-11-23T23:30:00Z', 'Asia/Kolkata', '2026-11-24', 300],
    ['2026-01-01T03:00:00Z', 'America/New_York', '2025-12-31', 1_320],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25', 150],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25', 150],
  ])('show %s in %s', (at, zone, ...shown) => {
    const [day, minute] = shown;
    expect(localTime(Date.parse(at), zone)).toEqual({ day, minute });
  });

  it('are told in words', () => {
    expect(zoned(Date.parse('2026-01-01T03:05:00Z'), 'America/New_York')).toBe('Wed 31 Dec 22:05');
    expect(zoned(Date.parse('2026-03-09T00:00:00Z'), 'UTC')).toBe('Mon 9 Mar 00:00');
  });
});

describe('a week', () => {
  it('runs from Monday to Sunday over the ends of months and years', () => {
    expect(weekOf(Date.parse('2026-12-31T12:00:00Z'), 'UTC')).toEqual([
      '2026-12-28',
      '2026-12-29',
      '2026-12-30',
      '2026-12-31',
      '2027-01-01',
      '2027-01-02',
      '2027-01-03',
    ]);
  });

  it('is that of the day by the clocks of the zone', () => {
    const sunday = Date.parse('2026-11-29T23:30:00Z');
    expect(weekOf(sunday, 'UTC')[0]).toBe('2026-11-23');
    expect(weekOf(sunday, 'Europe/Berlin')[0]).toBe('2026-11-30');
  });

  it('is moved by whole weeks, past a change of the clocks', () => {
    const at = Date.parse('2026-10-21T12:00:00Z');
    const weeks = [-1, 0, 1, 2].map((by) => weekOf(at, 'Europe/Berlin', by)[0]);
    expect(weeks).toEqual(['2026-10-12', '2026-10-19', '2026-10-26', '2026-11-02']);
  });
});

describe('the marks of a day', () => {
  it('stand in their order, each on its own day', () => {
    const marks = ['2026-11-23T23:50:00Z', '2026-11-24T00:10:00Z', '2026-11-23T08:00:00Z'];
    const days = toCalendar(['2026-11-23', '2026-11-24'], marks.map(mark), 'UTC');
    expect(days.map(({ day, marks: own }) => [day, own.map(({ id }) => id)])).toEqual([
      ['2026-11-23', ['2026-11-23T08:00:00Z', '2026-11-23T23:50:00Z']],
      ['2026-11-24', ['2026-11-24T00:10:00Z']],
    ]);
  });

  it('stand side by side as long as one would cover the next', () => {
    expect(placesOf('08:00', '08:54')).toEqual([
      [480, 0, 1],
      [534, 0, 1],
    ]);
    expect(placesOf('08:00', '08:53')).toEqual([
      [480, 0, 2],
      [533, 1, 2],
    ]);
    expect(placesOf('08:00', '08:40', '09:20', '10:30')).toEqual([
      [480, 0, 3],
      [520, 1, 3],
      [560, 2, 3],
      [630, 0, 1],
    ]);
  });

  it('may begin at midnight', () => {
    expect(placesOf('00:00')).toEqual([[0, 0, 1]]);
  });

  it.each([
    ['2026-03-08', 'America/New_York', 60],
    ['2026-11-01', 'America/New_York', -60],
    ['2026-04-04', 'Australia/Lord_Howe', 0],
    ['2026-04-05', 'Australia/Lord_Howe', -30],
    ['2026-10-04', 'Australia/Sydney', 60],
    // At midnight: an hour is left out of the day that begins, or put to the one that ends.
    ['2026-03-28', 'Asia/Beirut', 0],
    ['2026-03-29', 'Asia/Beirut', 60],
    ['2026-10-24', 'Asia/Beirut', -60],
    ['2026-10-25', 'Asia/Beirut', 0],
    // Late in the evening of the day before.
    ['2026-03-28', 'America/Nuuk', 60],
    ['2026-03-29', 'America/Nuuk', 0],
    ['2026-11-23', 'Asia/Kathmandu', 0],
  ])('tell a change of the clocks on %s in %s', (day, zone, change) => {
    expect(toCalendar([day], [], zone)[0]?.clockChange).toBe(change);
  });
});

describe('the mark of a run', () => {
  const run = {
    id: 'drun_1',
    deployment_id: 'depl_1',
    trigger_context: { type: 'schedule', scheduled_at: '2026-11-23T07:00:00.000Z' },
    session_id: 'sess_1',
    error: null,
    created_at: '2026-11-23T07:00:02.000Z',
    outcome: { type: 'failed' as const, reason: 'retries_exhausted', message: 'no route' },
  };

  it(verifies('schedules.outcome', 'is what became of its Session, not that it began'), () => {
    expect(toRunMark(run, 'report')).toMatchObject({
      name: 'report',
      kind: 'failed',
      why: 'no route',
      late: 2_000,
      session: 'sess_1',
    });
    const waiting = { type: 'waiting' as const, reason: 'requires_action', message: null };
    const byHand = { ...run, trigger_context: { type: 'manual' }, outcome: waiting };
    expect(toRunMark(byHand, undefined)).toMatchObject({
      name: 'depl_1',
      kind: 'waiting',
      late: undefined,
    });
  });
});
