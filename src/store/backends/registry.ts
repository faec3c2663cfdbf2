import type { Backend } from '../backend.ts';
import { journal } from './journal/backend.ts';
import { lmdb } from './lmdb/backend.ts';
import { memory } from './memory/backend.ts';
import { postgres } from './postgres/backend.ts';
import { redis } from './redis/backend.ts';

/** All backends, in the order in which they are named. */
export const BACKENDS: readonly Backend[] = [
  lmdb,
  redis,
  postgres,
  memory,
  // Opens the drivers that no other one names.
  journal,
];

/** The default, which `gateway store backup` copies: it needs no server and outlives its process. */
export const EMBEDDED = lmdb;
