import { Buffer } from 'node:buffer';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChecker, operationsOf } from '../e2e/openapi-checker.ts';
import type { Checker, Located } from '../e2e/openapi-checker.ts';
import { verifies } from '../requirements.ts';
import { CANARIES, startApiWorld } from './support/api-world.ts';
import type { ApiWorld, Member } from './support/api-world.ts';
import { makeBelongings, SKILL } from './support/belongings.ts';
import { hostileRequests } from './support/hostile-requests.ts';
import type { HostileRequest } from './support/hostile-requests.ts';
import { createKeepAliveClient } from './support/keep-alive-client.ts';
import type { Got, KeepAliveClient } from './support/keep-alive-client.ts';
import { pathTo, sampleCalls } from './support/sample-calls.ts';
import type { Named } from './support/sample-calls.ts';

/** Requests of each operation; `FUZZ_RUNS=1000` looks longer. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 20);
/** What a failure prints, to see it again: `FUZZ_SEED=1 FUZZ_ONLY='POST /v1/agents'`. */
const SEED = process.env['FUZZ_SEED'];
const ONLY = process.env['FUZZ_ONLY'] ?? '';
const TIMEOUT_MS = 150_000 + RUNS * 60_000;

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

/** Things of its own for an operation that ends one. */
const thingsFor = ({ method, path }: Located): Promise<Named> | Named =>
  method === 'DELETE' || path.endsWith('/archive') ? newThings() : shared;

const INSIDES = /TypeError|RangeError|SyntaxError|node_modules|\.[jt]s:\d|ECONN|\[object /;

/** What every answer is, whatever was asked. */
function expectAnswer(operation: Located, request: HostileRequest, got: Got): void {
  const { status, headers, text } = got;
  const shown = `${status} ${text.slice(0, 500)}`;
  expect(status, shown).toBeLessThan(500);
  expect(headers['x-request-id'], shown).toMatch(/^req_/);
  expect(headers['request-id'], shown).toBe(headers['x-request-id']);
  for (const secret of [...Object.values(CANARIES), member.key])
    expect(text.includes(secret), `tells ${secret}: ${shown}`).toBe(false);
  if (request.method === 'HEAD') return;
  if (status >= 400) {
    expect(headers['content-type'], shown).toBe('application/json');
    expect(text, shown).not.toMatch(INSIDES);
  }
  if (request.method !== operation.method || text === '') return;
  const type = String(headers['content-type']);
  if (type !== 'application/json') return;
  const answer = { status, headers: new Headers({ 'content-type': type }), body: JSON.parse(text) };
  checker.check(operation.method, operation.path, answer);
}

/** The connection is of use for the next request, or was closed as connections are. */
async function expectAlive(): Promise<void> {
  const alive = { method: 'GET', target: '/healthz', headers: {}, body: Buffer.alloc(0) };
  expect(await client.send(alive)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
}

async function fuzz(operation: Located): Promise<void> {
  const named = await thingsFor(operation);
  const { document } = world;
  const right = pathTo(operation.path, named).split('?')[0];
  const property = fc.asyncProperty(
    hostileRequests(operation, { document, named, key: member.key }),
    async (request) => {
      const isThere = request.target.split('?')[0] === right;
      const got = await client.send(request);
      // Another path may be another operation's, whose shapes are its own.
      expectAnswer(operation, isThere ? request : { ...request, method: 'OTHER' }, got);
      await expectAlive();
    },
  );
  await fc.assert(property, { numRuns: RUNS, ...(SEED && { seed: Number(SEED) }) });
}

/** Megabytes that nothing can be freed of. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const operations = (): Located[] =>
  operationsOf(world.document).filter(({ method, path }) => `${method} ${path}`.startsWith(ONLY));

describe('every documented operation', () => {
  it(
    verifies('versioning.openapi-served', 'answers as the document says when it is asked rightly'),
    async () => {
      for (const operation of operations()) {
        const name = `${operation.method} ${operation.path}`;
        const named = await thingsFor(operation);
        const calls = sampleCalls(world.document, named).filter((one) => one.operation === name);
        expect(calls.length, name).toBeGreaterThan(0);
        for (const call of calls) {
          await PREPARED[name]?.(named);
          const answer = await member.send(call);
          const shown = `${name}: ${answer.status} ${JSON.stringify(answer.body)}`;
          expect(answer.status, shown).toBeLessThan(300);
          checker.check(operation.method, operation.path, answer);
        }
      }
    },
  );

  it(verifies('ops.unhandled', 'finds nothing by a name longer than any'), async () => {
    const long = 'x'.repeat(6_000);
    for (const operation of operations()) {
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
        expectAnswer(operation, { ...request, method: 'OTHER' }, got);
      }
    }
  });

  it(
    verifies(
      'ops.unhandled',
      'errors.request-id.header',
      'answers in its shape, and never with 5xx, whatever it is asked',
    ),
    { timeout: TIMEOUT_MS },
    async () => {
      const before = heapInUse();
      for (const operation of operations()) {
        await fuzz(operation).catch((cause: unknown) => {
          const { message } = cause as Error;
          throw new Error(`${operation.method} ${operation.path}: ${message}`, { cause });
        });
      }
      const errors = world.gateway
        .log()
        .split('\n')
        .filter((line) => / error /.test(line));
      expect(errors).toEqual([]);
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
