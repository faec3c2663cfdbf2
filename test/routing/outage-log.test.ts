import { describe, expect, it } from 'vitest';
import { createOutageLog } from '../../src/routing/outage-log.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const ROUTE = 'prov_1\nfast';

function setUp() {
  const clock = createFakeClock();
  const lines: string[] = [];
  const at =
    (level: string) =>
    (message: string, fields: object = {}) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { info: at('info'), warn: at('warn') };
  const outages = createOutageLog({ clock, log, nameOf: (id) => (id === 'prov_1' ? 'acme' : id) });
  const until = () => clock.now() + 15_000;
  return { clock, lines, outages, until };
}

describe('the log of outages', () => {
  it(verifies('provider.health-shown', 'has one line at the beginning and one at the end'), () => {
    const { clock, lines, outages, until } = setUp();
    for (let openings = 1; openings < 50; openings++) {
      outages.began(ROUTE, { until: until(), openings }, 'server');
      clock.advance(1_000);
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^warn provider left out {"provider":"acme","model":"fast","reason":"failures in a row","until":"/,
    );
    outages.ended(ROUTE);
    outages.ended(ROUTE);
    expect(lines.slice(1)).toEqual([
      'info provider serves again {"provider":"acme","model":"fast","left_out_ms":49000}',
    ]);
    outages.began(ROUTE, { until: until(), openings: 1 }, 'server');
    expect(lines).toHaveLength(3);
  });

  it('names the account alone where its key was refused', () => {
    const { lines, outages, until } = setUp();
    outages.began('prov_1', { until: until(), openings: 0 }, 'credential');
    expect(lines[0]).toMatch(/^warn .*{"provider":"acme","reason":"it refused its key"/);
  });

  it('has a candidate that is told to wait again and again once a minute', () => {
    const { clock, lines, outages, until } = setUp();
    for (let second = 0; second < 120; second += 6) {
      outages.began(ROUTE, { until: until(), openings: 0 }, 'rate');
      clock.advance(5_000);
      outages.ended(ROUTE);
      clock.advance(1_000);
    }
    expect(
      lines.filter((line) => /^info provider left out .*asked to wait/.test(line)),
    ).toHaveLength(2);
    expect(lines).toHaveLength(4);
  });

  it(verifies('provider.health-shown', 'leaves an outage to the process that found it out'), () => {
    const [one, other] = [setUp(), setUp()];
    const cooldown = { until: one.until(), openings: 1 };
    one.outages.began(ROUTE, cooldown, 'server');
    for (const { outages } of [one, other]) outages.learn(ROUTE, cooldown);
    other.outages.began(ROUTE, { until: cooldown.until + 1, openings: 1 }, 'server');
    expect([one.lines.length, other.lines.length]).toEqual([1, 0]);
    other.outages.ended(ROUTE);
    // A recovery of before the cooldown says nothing about it.
    one.outages.forgive(ROUTE, cooldown.until - 1);
    expect(one.lines).toHaveLength(1);
    one.outages.forgive(ROUTE, cooldown.until);
    expect(one.lines[1]).toMatch(/serves again/);
    expect(other.lines).toEqual([]);
  });

  it.each(['server', 'credential'] as const)(
    'names a failure (%s) that was a wait first',
    (kind) => {
      const { clock, lines, outages, until } = setUp();
      const openings = kind === 'credential' ? 0 : 1;
      const wait = () => outages.began(ROUTE, { until: until(), openings: 0 }, 'server');
      const fail = () => outages.began(ROUTE, { until: until(), openings }, kind);
      wait();
      clock.advance(5_000);
      for (const again of [fail, wait, fail]) again();
      expect(lines).toHaveLength(2);
      expect(lines[0]).toMatch(/^info provider left out .*asked to wait/);
      expect(lines[1]).toMatch(/^warn provider left out .*(?:failures in a row|refused its key)/);
      clock.advance(5_000);
      outages.ended(ROUTE);
      expect(lines[2]).toMatch(/^info provider serves again .*"left_out_ms":10000/);
      // A wait soon after it has no line, but a failure that follows has, and its end.
      for (const next of [wait, fail, () => outages.ended(ROUTE)]) next();
      expect(lines.slice(3).map((line) => line.split(' ')[0])).toEqual(['warn', 'info']);
    },
  );

  it('logs new outages when many candidates never recover, and the ends of the last of them', () => {
    const { lines, outages, until } = setUp();
    for (let number = 0; number < 2_000; number++)
      outages.began(`prov_1\nm${number}`, { until: until(), openings: 1 }, 'server');
    expect(lines).toHaveLength(2_000);
    for (const number of [0, 999, 1_000, 1_999]) outages.ended(`prov_1\nm${number}`);
    expect(lines.slice(2_000)).toEqual([
      expect.stringMatching(/^info provider serves again .*"m1000"/),
      expect.stringMatching(/^info provider serves again .*"m1999"/),
    ]);
  });
});
