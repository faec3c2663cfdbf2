import type { Family } from '../../src/protocols/family.ts';
import type { Protocol } from '../../src/protocols/registry.ts';
import { surfacesOf } from '../../src/server/routes/public-routes.ts';
import { SPOKEN } from '../protocols/spoken.ts';

/** Every inference endpoint of the gateway. */
export const SURFACES = surfacesOf(SPOKEN);

/** Conventions of each protocol's endpoints: those of its first. */
export const FAMILIES = Object.fromEntries(
  SURFACES.map(({ protocol, family }) => [protocol.id, family] as const).toReversed(),
) as Readonly<Record<Protocol, Family>>;
