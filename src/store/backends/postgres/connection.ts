import pg from 'pg';
import { z } from 'zod';
import { StoreError } from '../../store.ts';

const CONNECT_MS = 10_000;
const STATEMENT_MS = 15_000;
const IDLE_MS = 30_000;

/**
 * Timeout of a query: the database ends it after 15 seconds, and when a second later nothing is
 * heard of that, its connection is given up. The other side may be gone without a word.
 */
export const PATIENCE = { query_timeout: STATEMENT_MS + 1_000 } as const;

const optionsSchema = z.strictObject({
  /** `postgres://user:password@host:port/database`. */
  url: z.string().regex(/^postgres(ql)?:\/\//, 'expected postgres://'),
  /** Holds everything of the store; made when it is missing. */
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/)
    .default('gateway'),
  /** Connections of this process. */
  connections: z.int().min(2).max(200).default(10),
});

export type PostgresPlace = z.output<typeof optionsSchema>;

/** The options of the configuration, checked; throws `StoreError` `unavailable`. */
export function toPostgresPlace(given: Record<string, unknown>): PostgresPlace {
  const parsed = optionsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const message = `store options: ${issue?.path.join('.')}: ${issue?.message}`;
  throw new StoreError('unavailable', message);
}

export function settingsOf({ url, schema }: PostgresPlace): pg.ClientConfig {
  const { connectionString, given } = withoutOptions(url);
  const own = [
    // Functions name their tables without a schema.
    `search_path=${schema}`,
    'client_min_messages=warning',
    // A commit that waited for a lock has to see the commits of others, whatever the server's default.
    'default_transaction_isolation=read\\ committed',
  ].map((setting) => `-c ${setting}`);
  return {
    connectionString,
    connectionTimeoutMillis: CONNECT_MS,
    // The last one of a name counts.
    options: [...given, ...own].join(' '),
    application_name: 'agent-gateway',
    keepAlive: true,
  };
}

/** Takes the `options` of a URL out of it: the driver would send them in place of ours. */
function withoutOptions(url: string): { connectionString: string; given: string[] } {
  const [address = url, ...query] = url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  const given = parameters.getAll('options');
  if (given.length === 0) return { connectionString: url, given };
  parameters.delete('options');
  const rest = parameters.toString();
  return { connectionString: rest === '' ? address : `${address}?${rest}`, given };
}

export function openPool(place: PostgresPlace): pg.Pool {
  const pool = new pg.Pool({
    ...settingsOf(place),
    max: place.connections,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: STATEMENT_MS,
  });
  // A connection that dies while idle is replaced at its next use.
  pool.on('error', () => undefined);
  return pool;
}
