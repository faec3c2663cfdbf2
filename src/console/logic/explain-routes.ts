import type { PlanLine } from '../../client/models.ts';

/** A route in the order in which routes would be tried, with what a failing provider would change. */
export interface TriedRoute {
  readonly line: PlanLine;
  /** Place in the order, from 1; undefined for a route that is taken away. */
  readonly place: number | undefined;
}

/** The order of routes if some providers failed. */
export function orderWithout(lines: readonly PlanLine[], without: readonly string[]): TriedRoute[] {
  let place = 0;
  return lines.map((line) => ({
    line,
    place: without.includes(line.provider) ? undefined : ++place,
  }));
}
