import type { ValueBound } from '../../src/core/json/json-document.ts';

/** The defaults, for tests that put a gateway's parts together themselves. */
export const BODY_VALUES: ValueBound = {
  most: 250_000,
  numbers: 2_000_000,
  setting: 'server.limits.body_values',
};
export const RESOURCE_VALUES: ValueBound = {
  most: 50_000,
  numbers: 50_000,
  setting: 'server.limits.resource_values',
};
