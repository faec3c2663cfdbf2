import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/config/schema/server-config.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { createLog } from '../../../src/core/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openUsage } from '../../../src/server/compose/open-usage.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type { LiveUsage } from '../../../src/server/compose/open-usage.ts';
import type { PendingClaim } from '../../../src/usage/rates/pending-claim.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { verifies } from '../../requirements.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { openCommandProxy } from '../../store/support/command-proxy.ts';
import type { CommandProxy } from '../../store/support/command-proxy.ts';
import { shareDatabase, type SharedDatabase } from '../../support/servers/share-database.ts';
import { speak } from '../../support/raw-socket.ts';
import { startGateway } from '../../support/gateway.ts';
import { codeOf, outcome, principal } from '../../usage/usage-fixtures.ts';

const DATABASES = [
  { driver: 'redis', program: findProgram('redis-server') },
  { driver: 'postgres', program: findProgram('postgres') },
].filter(({ program }) => program !== undefined);

const CALLS = 64;
const BOUND = 10;
const KEY = { kind: 'key', id: 'key_1' } as const;

const config = {
  ledger: 'auto',
  ledgerSync: null,
  workers: 1,
  log: { content: false },
  limits: { rpm: 10_000 },
} as unknown as ServerConfig;

/** Whether a command names a row or an id; PostgreSQL is sent bytes in hexadecimal. */
const names = (command: string, word: string): boolean =>
  command.includes(word) || command.includes(Buffer.from(word, 'latin1').toString('hex'));

/** First segments of keys, with their ends. */
const [RATE, SPEND, FLIGHT, OPEN] = ['rpm\0', 'spend\0', 'flight\0', 'open\0'] as const;

/** Commands about limits and open calls; the lease of the worker, sweeps and looks are others. */
const aboutCalls = (commands: readonly string[]): string[] =>
  commands.filter((command) => [RATE, SPEND, FLIGHT, OPEN].some((word) => names(command, word)));

describe.each(DATABASES)('limits and records on $driver', ({ driver }) => {
  let server: SharedDatabase;
  let proxy: CommandProxy;
  let sites = 0;

  beforeAll(async () => {
    server = await shareDatabase(driver);
    proxy = await openCommandProxy(server.url);
  });
  afterAll(() => proxy?.close());

  const fresh = () => {
    const name = `${server.name}_${++sites}`;
    const place = driver === 'redis' ? { prefix: `${name}:` } : { schema: name };
    return { driver, options: { url: proxy.url, ...place } };
  };

  async function withUsage(run: (usage: LiveUsage) => Promise<void>): Promise<void> {
    const store = await openStore(fresh(), { clock: systemClock });
    const log = createLog({
      level: 'error',
      format: 'text',
      clock: systemClock,
      write: () => undefined,
    });
    const ids = createIdSource(systemClock);
    const usage = await openUsage(store, {
      config,
      clock: systemClock,
      ids,
      log,
      signals: { listener: undefined },
    });
    try {
      await run(usage);
    } finally {
      await usage.close();
      await store.close();
    }
  }

  it(
    verifies(
      'store.journal.host-scope-only',
      'begins, claims and reserves for all calls of one turn in one round trip',
    ),
    async () => {
      await withUsage(async (usage) => {
        const who = limited({ rpmCap: 1_000 });
        await end(usage, [call(usage, who)]);
        proxy.take();

        const calls = Array.from({ length: CALLS }, () => call(usage, who));
        const fates = await Promise.all(calls.map(fateOf));
        const commands = aboutCalls(proxy.take());

        expect(fates).toEqual(calls.map(() => 'admitted'));
        expect(commands).toHaveLength(1);
        for (const word of [RATE, SPEND, FLIGHT, ...calls.map(({ id }) => id)])
          expect(names(commands[0] ?? '', word)).toBe(true);
        expect((await readSpend(usage, KEY, Date.now())).lifetime).toEqual({
          settled: BOUND,
          reserved: CALLS * BOUND,
        });
        await end(usage, calls);
      });
    },
  );

  it('turns away in that commit what a rate or a limit has no room for', async () => {
    await withUsage(async (usage) => {
      const who = limited({ rpmCap: 31, keySpend: { lifetime: 21 * BOUND } });
      await end(usage, [call(usage, who)]);
      proxy.take();
      const calls = Array.from({ length: CALLS }, () => call(usage, who));
      const fates = await Promise.all(calls.map(fateOf));
      expect(aboutCalls(proxy.take())).toHaveLength(1);
      const count = (fate: string): number => fates.filter((one) => one === fate).length;
      expect(count('admitted')).toBe(20);
      expect(count('key_spending_limit')).toBe(10);
      expect(count('turned away')).toBe(CALLS - 30);
      await end(
        usage,
        calls.filter((_, index) => fates[index] === 'admitted'),
      );
    });
  });

  it(
    verifies(
      'store.journal.host-scope-only',
      'answers a call with one commit before it is sent, and writes no file',
    ),
    async () => {
      const gateway = await startGateway({
        server: { store: fresh(), limits: { rpm: 10_000 } },
        providers: [{ name: 'mock', type: 'mock' }],
        models: [
          {
            name: 'acme/echo',
            routes: [{ provider: 'mock', pricing: { per_call: '0.01' } }],
          },
        ],
      });
      try {
        const { body } = await gateway.admin('POST', '/admin/v1/keys', {
          name: 'limited',
          rpm_cap: 1_000,
          spending_limit: { lifetime: 100 },
        });
        const { status } = await gateway.chat('acme/echo', { key: body.value });
        expect(status).toBe(200);
        const files = await filesOf(gateway.directory);
        for (let count = 0; count < 5; count++) {
          proxy.take();
          expect(await chatAtOnce(gateway.url, body.value)).toBe(200);
          const commands = aboutCalls(proxy.take());
          // What begins the call, and what ends it.
          expect(commands.map((command) => names(command, RATE))).toEqual([true, false]);
          for (const word of [FLIGHT, SPEND, OPEN])
            expect(commands.map((command) => names(command, word))).toEqual([true, true]);
        }
        expect(await filesOf(gateway.directory)).toEqual(files);
      } finally {
        await gateway.stop();
      }
    },
  );
});

interface BegunCall {
  readonly id: string;
  readonly entry: ReturnType<LiveUsage['ledger']['begin']>;
  readonly claims: readonly PendingClaim[];
}

const limited = (limits: Partial<Principal>): Principal =>
  principal({
    keySpend: { lifetime: 1_000_000 },
    organizationSpend: { lifetime: 1_000_000 },
    ...limits,
  });

const ids = createIdSource(systemClock);

/** As a request is let in and begun in one turn. */
function call({ rates, ledger }: LiveUsage, who: Principal): BegunCall {
  const platform = rates.admitPlatform('client');
  const after = platform === true ? undefined : claimOf(platform);
  const claims = [...(after ? [after] : []), claimOf(rates.admitKey(who, after))];
  const id = ids.next('req');
  const facts = { at: Date.now(), surface: 'chat', model: 'acme/one', stream: false };
  return {
    id,
    claims,
    entry: ledger.begin({ ...facts, id, principal: who, bound: BOUND, claims }),
  };
}

function claimOf(answer: boolean | PendingClaim): PendingClaim {
  if (typeof answer === 'boolean') throw new Error('the store was not asked');
  return answer;
}

async function fateOf({ claims, entry }: BegunCall): Promise<string> {
  const answers = await Promise.all(claims.map(({ decided }) => decided));
  if (answers.includes(false)) return 'turned away';
  return codeOf(entry.admitted, 'admitted');
}

async function end({ ledger }: LiveUsage, calls: readonly BegunCall[]): Promise<void> {
  for (const { entry } of calls) await entry.admitted;
  for (const { entry } of calls) entry.settle(outcome({ cost: BOUND }));
  await ledger.drain();
}

/** Head and body in one piece, as they come from clients on the network. */
async function chatAtOnce(url: string, key: string): Promise<number> {
  const body = JSON.stringify({ model: 'acme/echo', messages: [{ role: 'user', content: 'hi' }] });
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: ${new URL(url).host}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  const isOver = (answers: readonly unknown[]): boolean => answers.length > 0;
  const { answers } = await speak(url, `${head.join('\r\n')}\r\n\r\n${body}`, { isOver });
  return answers[0]?.status ?? 0;
}

async function filesOf(directory: string): Promise<string[]> {
  const found = await readdir(join(directory, '.gateway'), { recursive: true });
  return found.sort();
}
