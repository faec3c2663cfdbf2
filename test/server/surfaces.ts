import type { Family } from '../../src/protocols/family.ts';
import type { InferenceSurface } from '../../src/protocols/surface.ts';
import type { Protocol } from '../../src/protocols/registry.ts';
import { surfacesOf } from '../../src/server/routes/public-routes.ts';
import { SPOKEN } from '../protocols/spoken.ts';

/** Every inference endpoint of the gateway. */
export const SURFACES = surfacesOf(SPOKEN);

/** Conventions of each protocol's endpoints: those of its first. */
export const FAMILIES = Object.fromEntries(
  SURFACES.filter(isFirst).map(({ protocol, family }) => [protocol.id, family]),
) as Readonly<Record<Protocol, Family>>;

function isFirst({ protocol }: InferenceSurface, index: number): boolean {
  return SURFACES.findIndex((one) => one.protocol.id === protocol.id) === index;
}
