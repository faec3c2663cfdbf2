import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/core/time/clock.ts';
import type { Clock } from '../../src/core/time/clock.ts';

const PRELOAD = fileURLToPath(new URL('fast-clock.js', import.meta.url));
/** A minute of the gateways begins so long after their time does. */
const FIRST_MINUTE_MS = 45_000;

/** The time of the machine, in which nothing is put in front of a gateway. */
export function createRealTime(): FastTime {
  const same = (instant: number): number => instant;
  const startedAt = Date.now();
  const now = (): number => Date.now();
  return { rate: 1, startedAt, now, toMachine: same, clock: systemClock, environment: {} };
}

/** The time of the gateways, which goes on `rate` times as fast as that of the machine. */
export interface FastTime {
  readonly rate: number;
  /** When it began, on the clock of the machine. */
  readonly startedAt: number;
  /** Their milliseconds since the epoch. */
  now(): number;
  /** The same instant on the clock of the machine. */
  toMachine(instant: number): number;
  /** What makes a gateway of this process live in it. */
  readonly clock: Clock;
  /** What makes a process live in it. */
  readonly environment: Readonly<Record<string, string>>;
}

export function createFastTime(rate: number): FastTime {
  const origin = Date.now();
  const shift = 60_000 - ((origin + FIRST_MINUTE_MS) % 60_000);
  const now = (): number => origin + shift + (Date.now() - origin) * rate;
  return {
    rate,
    startedAt: origin,
    now,
    toMachine: (instant) => origin + (instant - origin - shift) / rate,
    clock: {
      now: () => Math.floor(now()),
      monotonic: () => systemClock.monotonic() * rate,
      setTimeout: (fn, ms) => systemClock.setTimeout(fn, ms / rate),
    },
    environment: {
      NODE_OPTIONS: `--import ${PRELOAD}`,
      CHAOS_RATE: String(rate),
      CHAOS_ORIGIN: String(origin),
      CHAOS_SHIFT: String(shift),
    },
  };
}
