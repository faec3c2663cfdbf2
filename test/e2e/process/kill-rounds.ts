import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const PRICE = 0.01;
const CALLERS = 8;
/** Callers of each kind: under a limit, and without one. */
const KINDS = ['paid', 'free'] as const;
const PAGE = 1_000;

export interface KillRounds {
  readonly rounds: number;
  /** `server.store`. */
  readonly store: object;
  /** Further settings of `server`. */
  readonly server?: object;
  /** Further environment of each gateway. */
  readonly env?: Record<string, string>;
  /** What is done at the first gateway ahead of its load. */
  readonly before?: (gateway: TestGateway) => Promise<void>;
  /** What else happens to the directory of a gateway that was killed. */
  readonly onKilled?: (directory: string) => void;
}

interface Acknowledged {
  readonly id: string;
  readonly kind: (typeof KINDS)[number];
}

/** Keys of the two kinds of callers. */
type Keys = Record<(typeof KINDS)[number], string>;

/**
 * Kills a gateway under load again and again, and expects each answered call in the records of the next
 * one: with its cost where a limit applies.
 */
export async function expectNothingLost(options: KillRounds): Promise<void> {
  const { rounds, store, server = {}, before, onKilled } = options;
  const directory = await newDirectory();
  const config = {
    server: { store, ...server },
    providers: [{ name: 'mock', type: 'mock' }],
    models: [
      { name: 'acme/echo', routes: [{ provider: 'mock', pricing: { per_call: String(PRICE) } }] },
    ],
  };
  const env = { MASTER: 'a-master-key-of-32-characters-00', ...options.env };
  // The last one is not killed and only reads, which needs no process of its own.
  const open = (binary: boolean) => startGateway(config, { binary, directory, env });
  let gateway = await open(true);
  try {
    await before?.(gateway);
    const keys = await makeKeys(gateway);
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await loadAndKill(gateway, keys);
      expect(acknowledged.length).toBeGreaterThan(0);
      onKilled?.(directory);
      gateway = await open(round + 1 < rounds);
      expect(await missingOf(gateway, acknowledged)).toEqual([]);
    }
    await expectSumsOfRecords(gateway);
  } finally {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function makeKeys(gateway: TestGateway): Promise<Keys> {
  const make = async (body: object): Promise<string> =>
    (await gateway.admin('POST', '/admin/v1/keys', body)).body.value;
  return {
    paid: await make({
      name: 'paid',
      spending_limit: { lifetime: 100_000 },
      rpm_cap: 1_000_000,
    }),
    free: await make({ name: 'free' }),
  };
}

async function loadAndKill(gateway: TestGateway, keys: Keys): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  const call = async (kind: Acknowledged['kind']): Promise<void> => {
    for (;;) {
      const answer = await gateway.chat('acme/echo', { key: keys[kind] }).catch(() => undefined);
      if (answer?.status !== 200) return;
      acknowledged.push({ id: answer.headers.get('x-request-id') ?? '', kind });
    }
  };
  const callers = KINDS.flatMap((kind) => Array.from({ length: CALLERS }, async () => call(kind)));
  while (acknowledged.length < CALLERS) await pause(1);
  // The moment within a fold is another one in each round.
  await pause(Math.random() * 250);
  const exit = once(gateway.child!, 'exit');
  gateway.child!.kill('SIGKILL');
  await exit;
  await Promise.all(callers);
  return acknowledged;
}

async function recordsOf(gateway: TestGateway): Promise<Map<string, any>> {
  const records = new Map<string, any>();
  let page = '';
  do {
    const { body } = await gateway.admin('GET', `/admin/v1/requests?limit=${PAGE}${page}`);
    for (const record of body.data) records.set(record.id, record);
    page = body.next_page === null ? '' : `&page=${encodeURIComponent(body.next_page)}`;
  } while (page !== '');
  return records;
}

async function missingOf(
  gateway: TestGateway,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const records = await recordsOf(gateway);
  return acknowledged.flatMap(({ id, kind }) => {
    const record = records.get(id);
    const isWhole = record?.result === 'ok' && Number(record.cost) === PRICE;
    return record && (kind === 'free' || isWhole) ? [] : [`${kind} ${id} ${record?.result}`];
  });
}

/** Nothing was counted twice. Calls of a killed process may end between two reads. */
async function expectSumsOfRecords(gateway: TestGateway): Promise<void> {
  let sums = await sumsOf(gateway);
  for (;;) {
    const records = [...(await recordsOf(gateway)).values()].filter(
      ({ result }) => result !== 'pending',
    );
    const after = await sumsOf(gateway);
    if (after.requests === sums.requests) {
      expect(sums.requests).toBe(records.length);
      const cost = records.reduce((sum, record) => sum + Number(record.cost), 0);
      expect(Number(sums.cost)).toBeCloseTo(cost, 6);
      return;
    }
    sums = after;
  }
}

async function sumsOf(gateway: TestGateway): Promise<{ requests: number; cost: string }> {
  return (await gateway.admin('GET', '/admin/v1/usage')).body.data[0];
}
