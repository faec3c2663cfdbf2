import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/core/time/clock.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { ByteBudget } from '../../src/core/memory/byte-budget.ts';
import { BodyIntake } from '../../src/surfaces/bodies/body-intake.ts';
import type { BodySource } from '../../src/surfaces/read-body.ts';

/** Room for whatever a test sends. */
export function roomyBudget(clock: Clock = systemClock): ByteBudget {
  return new ByteBudget({ clock, bytes: 1e9, waitMs: 1_000, maxWaiting: 100 });
}

/** A request that waits to be read, as handlers get it. */
export function bodySource(
  request: IncomingMessage,
  response: ServerResponse,
  budget = roomyBudget(),
): BodySource {
  return { request, intake: new BodyIntake({ request, response }, budget) };
}
