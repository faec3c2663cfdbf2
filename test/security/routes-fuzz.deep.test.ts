import { Buffer } from 'node:buffer';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChecker, operationsOf } from '../e2e/api/openapi-checker.ts';
import type { Checker, Located } from '../e2e/api/openapi-checker.ts';
import { verifies } from '../requirements.ts';
import { inTurn, runsOf, SEED } from '../runs.ts';
import { CANARIES, startApiWorld } from './support/api-world.ts';
import type { ApiWorld, Member } from './support/api-world.ts';
import { makeBelongings, SKILL } from './support/belongings.ts';
import { expectAlive, expectSafeAnswer, FUZZ } from './support/fuzz.ts';
import { hostileRequests } from './support/hostile-requests.ts';
import type { HostileRequest } from './support/hostile-requests.ts';
import { createKeepAliveClient } from './support/keep-alive-client.ts';
import type { Got, KeepAliveClient } from './support/keep-alive-client.ts';
import { pathTo, sampleCalls } from './support/sample-calls.ts';
import type { Named, Sample } from './support/sample-calls.ts';

const AT_ONCE = 24;
/** Requests of each of many operations. */
const FEW = { numRuns: runsOf(3, 20), seed: SEED };

let world: ApiWorld;
let member: Member;
let checker: Checker;
let client: KeepAliveClient;
let shared: Named;
let slugs = 0;

beforeAll(async () => {
  world = await startApiWorld();
  member = await world.addMember('fuzzed');
  checker = createChecker(world.document);
  client = createKeepAliveClient(world.gateway.url);
  shared = await newThings();
});
afterAll(async () => {
  client.close();
  await world.stop();
});

async function newThings(): Promise<Named> {
  const outside = world.outside.url;
  return { ...(await makeBelongings(member, outside, `slug-${++slugs}`)), outside };
}

/** Operations with the things that they name, which are their own where they end one. */
const withThings = (all: readonly Located[]): Promise<(readonly [Located, Named])[]> =>
  Promise.all(
    all.map(async (operation) => {
      const { method, path } = operation;
      const isEnd = method === 'DELETE' || path.endsWith('/archive');
      return [operation, isEnd ? await newThings() : shared] as const;
    }),
  );

/** What every answer is; what is told where the operation is has the shape that the document promises. */
function expectAnswer(
  operation: Located,
  { request, got, isThere }: { request: HostileRequest; got: Got; isThere: boolean },
): void {
  const { status, headers, text } = got;
  expectSafeAnswer(request, got, [...Object.values(CANARIES), member.key]);
  const type = String(headers['content-type']);
  if (!isThere || request.method !== operation.method) return;
  if (text === '' || type !== 'application/json') return;
  const answer = { status, headers: new Headers({ 'content-type': type }), body: JSON.parse(text) };
  checker.check(operation.method, operation.path, answer);
}

const samplesOf = ({ method, path }: Located, named: Named): Sample[] =>
  sampleCalls(world.document, named).filter((one) => one.operation === `${method} ${path}`);

async function fuzz(operation: Located, named: Named): Promise<void> {
  const { document } = world;
  const fill = (given?: Record<string, string>): string => pathTo(operation.path, named, given);
  const right = fill().split('?')[0];
  const samples = samplesOf(operation, named);
  const property = fc.asyncProperty(
    hostileRequests(operation, { document, named, key: member.key, samples, fill }),
    async (request) => {
      const isThere = request.target.split('?')[0] === right;
      const got = await client.send(request);
      // Another path may be another operation's, whose shapes are its own.
      expectAnswer(operation, { request, got, isThere });
    },
  );
  await fc.assert(property, FEW);
  // A connection that one of them broke would have failed the next one; this is after the last.
  await expectAlive(client);
}

/** Refusals by operations of single sign-on, which this gateway and its keys are without. */
const WITHOUT_PROVIDER: ReadonlyMap<string, number> = new Map([
  ['POST /v1/account/sso/device', 404],
  ['POST /v1/account/sso/key', 404],
  ['DELETE /v1/account/sso/key', 409],
]);

/** Megabytes that nothing can be freed of. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function inAnyOrder<T>(items: readonly T[], places: fc.Stream<number>): T[] {
  const at = [...places.take(items.length)];
  return items
    .map((item, index) => [at[index] ?? 0, item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}

const errorsLogged = (): string[] =>
  world.gateway
    .log()
    .split('\n')
    .filter((line) => / (?:error|warn) /.test(line));

const operations = (): Located[] =>
  operationsOf(world.document).filter(({ method, path }) =>
    `${method} ${path}`.startsWith(FUZZ.only),
  );

const THIRDS = inTurn('operations that are asked wrongly', [0, 1, 2]);
/** A third of all in turn; all when one is named. */
const inThisTurn = <T>(all: readonly T[]): T[] =>
  FUZZ.only === '' ? all.filter((_, index) => THIRDS.includes(index % 3)) : [...all];

describe('every documented operation', () => {
  it(
    verifies('versioning.openapi-served', 'answers as the document says when it is asked rightly'),
    async () => {
      for (const [operation, named] of await withThings(operations())) {
        const name = `${operation.method} ${operation.path}`;
        const calls = samplesOf(operation, named);
        expect(calls.length, name).toBeGreaterThan(0);
        for (const call of calls) {
          await PREPARED[name]?.(named);
          const answer = await member.send(call);
          const shown = `${name}: ${answer.status} ${JSON.stringify(answer.body)}`;
          const refusal = WITHOUT_PROVIDER.get(name);
          if (refusal !== undefined) expect(answer.status, shown).toBe(refusal);
          else expect(answer.status, shown).toBeLessThan(300);
          checker.check(operation.method, operation.path, answer);
        }
      }
    },
  );

  it(
    verifies('ops.unhandled', 'answers all of them at once, without a 5xx'),
    { timeout: FUZZ.timeoutMs },
    async () => {
      const known = new Set(operations().map(({ method, path }) => `${method} ${path}`));
      const storm = fc.asyncProperty(fc.infiniteStream(fc.nat()), async (places) => {
        const things = await Promise.all([newThings(), newThings()]);
        const calls = things
          .flatMap((named) => sampleCalls(world.document, named))
          .filter(({ operation }) => known.has(operation));
        const rest = inAnyOrder([...calls, ...calls], places).values();
        await Promise.all(
          Array.from({ length: AT_ONCE }, async () => {
            for (const call of rest) {
              const { status, body } = await member.send(call);
              const shown = `${call.operation}: ${status} ${JSON.stringify(body)}`;
              expect(status, shown).toBeLessThan(500);
            }
          }),
        );
      });
      await fc.assert(storm, { ...FUZZ.parameters, numRuns: Math.ceil(FUZZ.runs / 100) });
      expect(errorsLogged()).toEqual([]);
    },
  );

  it(verifies('ops.unhandled', 'finds nothing by a name longer than any'), async () => {
    const long = 'x'.repeat(6_000);
    for (const operation of inThisTurn(operations())) {
      const { method, path, operation: described } = operation;
      const params = described.parameters ?? [];
      const targets = params.flatMap(({ name, in: where }) => {
        if (where === 'path') return [pathTo(path, shared, { [name]: long })];
        return where === 'query'
          ? [`${pathTo(path, shared)}?${encodeURIComponent(name)}=${long}`]
          : [];
      });
      for (const target of targets) {
        const headers = { authorization: `Bearer ${member.key}` };
        const request = { method, target, headers, body: Buffer.alloc(0) };
        const got = await client.send(request);
        expectAnswer(operation, { request, got, isThere: false });
      }
    }
  });

  it(
    verifies(
      'ops.unhandled',
      'errors.request-id.header',
      'answers in its shape, and never with 5xx, whatever it is asked',
    ),
    { timeout: FUZZ.timeoutMs },
    async () => {
      const before = heapInUse();
      for (const [operation, named] of await withThings(inThisTurn(operations()))) {
        await fuzz(operation, named).catch((cause: unknown) => {
          const { message } = cause as Error;
          throw new Error(`${operation.method} ${operation.path}: ${message}`, { cause });
        });
      }
      expect(errorsLogged()).toEqual([]);
      expect(heapInUse() - before).toBeLessThan(200);
    },
  );
});

/** What must be so before an operation can succeed. */
const PREPARED: Readonly<Record<string, (named: Named) => Promise<unknown>>> = {
  'PATCH /v1/deployments/{id}': ({ deployment }) =>
    member.made({ method: 'POST', path: `/v1/deployments/${deployment}/pause` }),
  'POST /v1/deployments/{id}/unpause': ({ deployment }) =>
    member.made({ method: 'POST', path: `/v1/deployments/${deployment}/pause` }),
  'DELETE /v1/skills/{id}': freeSkill,
  'DELETE /v1/skills/{id}/versions/{version}': async (named) => {
    await freeSkill(named);
    const body = { files: { 'SKILL.md': `${SKILL} Twice.` } };
    await member.made({ method: 'POST', path: `/v1/skills/${named.skill}/versions`, body });
  },
};

async function freeSkill({ agent }: Named): Promise<void> {
  await member.made({ method: 'PATCH', path: `/v1/agents/${agent}`, body: { skills: [] } });
}
