import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { newDirectory, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';

interface Shared {
  readonly driver: string;
  /** Gateways of two workers each. */
  readonly nodes: number;
}

const DATABASES: Shared[] = [
  { driver: 'redis', nodes: 2, program: 'redis-server' },
  { driver: 'postgres', nodes: 2, program: 'postgres' },
].filter(({ program }) => findProgram(program) !== undefined);
/** One host has it, whose workers set slices aside. */
const EMBEDDED: Shared = { driver: 'lmdb', nodes: 1 };

const PRICE = 0.01;
const RPM = 100;
const REQUESTS = 1_000;
/** Calls that the spending limit lets through. */
const MOST = 60;

describe.each(inTurn('shared limits', [EMBEDDED, ...DATABASES]))(
  '$nodes nodes of two workers on $driver',
  (shared) => {
    const { driver } = shared;
    let directory: string;
    let nodes: TestGateway[] = [];

    beforeAll(async () => {
      const database = driver === 'lmdb' ? undefined : await shareDatabase(driver);
      directory = await newDirectory();
      const config = {
        server: { store: { driver, ...(database && { options: database.options }) } },
        providers: [{ name: 'mock', type: 'mock' }],
        models: [
          {
            name: 'acme/echo',
            routes: [{ provider: 'mock', pricing: { per_call: String(PRICE) } }],
          },
        ],
      };
      const open = () =>
        startGateway(config, { binary: true, directory, args: ['--workers', '2'] });
      // The first one makes the keys.
      nodes = [await open()];
      for (let node = 1; node < shared.nodes; node++) nodes.push(await open());
    });
    afterAll(async () => {
      await Promise.all(nodes.map((node) => node.stop()));
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
        name: `limited ${JSON.stringify(limits)}`,
        ...limits,
      });
      expect(status).toBe(201);
      return body.value;
    }

    it(
      verifies(
        'limits.rpm.exact-across-workers',
        'limits.slices.exact-rpm',
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

    it(
      verifies(
        'limits.slices.exact-money',
        'limits.slices.exact-rpm',
        'let in as many as a rate and a limit do, of calls that come one after another',
      ),
      async () => {
        // More than a worker sets aside at once, of which the last 64 are shared call by call.
        const calls = 200;
        const rated = await newKey({ rpm_cap: calls });
        const limited = await newKey({ spending_limit: { lifetime: calls * PRICE } });
        for (const [key, refusal] of [
          [rated, 429],
          [limited, 402],
        ] as const) {
          const statuses: number[] = [];
          const ask = async (client: number): Promise<void> => {
            for (let i = 0; i < 30; i++) statuses.push((await chat(client, key)).status);
          };
          await Promise.all(Array.from({ length: 8 }, async (_, client) => ask(client)));
          const count = (status: number) => statuses.filter((one) => one === status).length;
          expect([count(200), count(refusal)]).toEqual([calls, 40]);
        }
      },
    );
  },
);
