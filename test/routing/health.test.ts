import { describe, expect, it } from 'vitest';
import { createHealth } from '../../src/routing/health.ts';
import { fakeRoute } from '../support/catalog.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { verifies } from '../requirements.ts';

describe('createHealth', () => {
  const setup = () => {
    const clock = createFakeClock();
    const health = createHealth({ clock, threshold: 3, openMs: 1_000, maxOpenMs: 8_000 });
    const route = fakeRoute('a');
    return { clock, health, route, state: () => health.look(route).state };
  };

  it(
    verifies(
      'routing.cooldown',
      'opens after N consecutive server faults, and a success in between starts the count again',
    ),
    () => {
      const { health, route, state } = setup();
      health.begin(route).fault('server');
      health.begin(route).fault('server');
      health.begin(route).success(10);
      health.begin(route).fault('server');
      health.begin(route).fault('server');
      expect(state()).toBe('available');
      health.begin(route).fault('server');
      expect(state()).toBe('cooled');
    },
  );

  it(verifies('routing.cooldown', 'never counts what says nothing about the candidate'), () => {
    const { health, route, state } = setup();
    for (let i = 0; i < 50; i++) health.begin(route).abandon();
    expect(state()).toBe('available');
    expect(health.look(route).consecutiveFaults).toBe(0);
  });

  it(
    verifies('routing.cooldown', 'keeps the later of two deadlines, whichever comes first'),
    () => {
      const { clock, health, route } = setup();
      const start = clock.now();
      const [long, short] = [health.begin(route), health.begin(route)];
      long.fault('rate', 60_000);
      short.fault('rate', 1_000);
      expect(health.look(route).until).toBe(start + 60_000);
    },
  );

  it(
    verifies(
      'routing.cooldown',
      'lets one probe through after the deadline and closes on its success',
    ),
    () => {
      const { clock, health, route, state } = setup();
      for (let i = 0; i < 3; i++) health.begin(route).fault('server');
      clock.advance(1_000);
      expect(state()).toBe('available');
      const probe = health.begin(route);
      expect(state()).toBe('probing');
      probe.success(5);
      expect(state()).toBe('available');
      health.begin(route);
      expect(state()).toBe('available');
    },
  );

  it('opens again for longer when the probe fails, up to the bound', () => {
    const { clock, health, route, state } = setup();
    for (let i = 0; i < 3; i++) health.begin(route).fault('server');
    for (const period of [1_000, 2_000, 4_000, 8_000, 8_000]) {
      clock.advance(period - 1);
      expect(state()).toBe('cooled');
      clock.advance(1);
      expect(state()).toBe('available');
      health.begin(route).fault('server');
    }
  });

  it('a probe that was given up frees its place', () => {
    const { clock, health, route, state } = setup();
    health.begin(route).fault('rate', 10);
    clock.advance(10);
    health.begin(route).abandon();
    expect(state()).toBe('available');
  });

  it('a refused credential cools every route of the account and no other account', () => {
    const { health, route } = setup();
    const sibling = { ...route, upstreamModel: 'other' };
    health.begin(route).fault('credential');
    expect(health.look(sibling).state).toBe('cooled');
    expect(health.look(fakeRoute('b')).state).toBe('available');
  });

  it('a report counts once', () => {
    const { health, route } = setup();
    const report = health.begin(route);
    for (let i = 0; i < 10; i++) report.fault('server');
    expect(health.look(route).consecutiveFaults).toBe(1);
  });

  it('smooths the time to first content', () => {
    const { health, route } = setup();
    health.begin(route).success(100);
    health.begin(route).success(200);
    expect(health.look(route).latencyMs).toBeCloseTo(120);
  });

  it('keeps the latency of streams and that of whole answers apart', () => {
    const { health, route } = setup();
    health.begin(route, 'whole').success(9_000);
    expect(health.look(route).latencyMs).toBe(9_000);
    expect(health.look(route, 'stream').latencyMs).toBeUndefined();
    health.begin(route, 'stream').success(100);
    expect(health.look(route).latencyMs).toBe(100);
    expect(health.look(route, 'stream').latencyMs).toBe(100);
    expect(health.look(route, 'whole').latencyMs).toBe(9_000);
  });

  it('forgets a latency after five minutes, and takes the next value as it is', () => {
    const { clock, health, route } = setup();
    health.begin(route).success(20_000);
    clock.advance(299_999);
    expect(health.look(route).latencyMs).toBe(20_000);
    clock.advance(1);
    expect(health.look(route).latencyMs).toBeUndefined();
    health.begin(route).success(100);
    expect(health.look(route).latencyMs).toBe(100);
  });

  it('sends one attempt to measure anew; meanwhile what was known counts', () => {
    const { clock, health, route } = setup();
    health.begin(route).success(20_000);
    clock.advance(300_000);
    const attempt = health.begin(route);
    expect(health.look(route).latencyMs).toBe(20_000);
    attempt.abandon();
    clock.advance(299_999);
    expect(health.look(route).latencyMs).toBe(20_000);
    clock.advance(1);
    expect(health.look(route).latencyMs).toBeUndefined();
  });

  it(
    verifies('routing.cooldown', 'a success that began before the cooldown does not end it'),
    () => {
      const { clock, health, route } = setup();
      const start = clock.now();
      const slow = health.begin(route);
      health.begin(route).fault('rate', 60_000);
      slow.success(10);
      expect(health.look(route)).toMatchObject({ state: 'cooled', until: start + 60_000 });
      clock.advance(60_000);
      health.begin(route).success(10);
      expect(health.look(route).state).toBe('available');
    },
  );

  it(verifies('routing.cooldown', 'requests that fail together open the breaker once'), () => {
    const { clock, health, route } = setup();
    const start = clock.now();
    const together = Array.from({ length: 20 }, () => health.begin(route));
    for (const report of together) report.fault('server');
    expect(health.look(route).until).toBe(start + 1_000);
    clock.advance(1_000);
    health.begin(route).fault('server');
    expect(health.look(route).until).toBe(start + 3_000);
  });
});
