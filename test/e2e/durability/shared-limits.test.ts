import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { findProgram, startPostgres, startRedis } from '../../store/support/database-server.ts';
import type { DatabaseServer } from '../../store/support/database-server.ts';
import { newDirectory, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';

const DATABASES = [
  { driver: 'redis', program: findProgram('redis-server'), start: startRedis },
  { driver: 'postgres', program: findProgram('postgres'), start: startPostgres },
].filter(({ program }) => program !== undefined);

const PRICE = 0.01;
const RPM = 100;
const REQUESTS = 1_000;
/** Calls that the spending limit lets through. */
const MOST = 60;

describe.each(DATABASES)('two nodes of two workers on $driver', ({ driver, program, start }) => {
  let server: DatabaseServer;
  let directory: string;
  let nodes: TestGateway[] = [];

  beforeAll(async () => {
    server = await start(program!);
    directory = await newDirectory();
    const config = {
      server: { store: { driver, options: { url: server.url } } },
      providers: [{ name: 'mock', type: 'mock' }],
      models: [
        { name: 'acme/echo', routes: [{ provider: 'mock', pricing: { per_call: String(PRICE) } }] },
      ],
    };
    const open = () => startGateway(config, { binary: true, directory, args: ['--workers', '2'] });
    // The first one makes the keys.
    nodes = [await open()];
    nodes.push(await open());
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const nodeOf = (index: number): TestGateway => nodes[index % nodes.length]!;

  /** A worker that has not heard of the key yet looks for it, but not for many at once. */
  async function chat(index: number, key: string): Promise<Answer> {
    for (;;) {
      const answer = await nodeOf(index).chat('acme/echo', { key });
      if (answer.status !== 401) return answer;
    }
  }

  async function newKey(limits: object): Promise<string> {
    const { status, body } = await nodeOf(0).admin('POST', '/admin/v1/keys', {
      name: `limited ${Object.keys(limits).join(' ')}`,
      ...limits,
    });
    expect(status).toBe(201);
    return body.value;
  }

  it(
    verifies(
      'limits.rpm.exact-across-workers',
      'accept exactly 100 of 1,000 requests at once under rpm 100',
    ),
    async () => {
      const key = await newKey({ rpm_cap: RPM });
      const answers = await Promise.all(
        Array.from({ length: REQUESTS }, (_, index) => chat(index, key)),
      );
      const count = (status: number) => answers.filter((one) => one.status === status).length;
      expect([count(200), count(429)]).toEqual([RPM, REQUESTS - RPM]);
    },
  );

  it(
    verifies(
      'store.ledger.never-exceeds',
      'spend a limit to the last call and not beyond, with a rate that more of them fit in',
    ),
    async () => {
      const key = await newKey({ rpm_cap: REQUESTS, spending_limit: { lifetime: MOST * PRICE } });
      const answers = await Promise.all(
        Array.from({ length: 4 * MOST }, (_, index) => chat(index, key)),
      );
      const count = (status: number) => answers.filter((one) => one.status === status).length;
      // Bounds are what calls cost, so that nothing that is left is out of reach.
      expect([count(200), count(402)]).toEqual([MOST, 3 * MOST]);
    },
  );
});
