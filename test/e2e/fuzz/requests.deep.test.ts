import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SurfaceRow } from '../../conformance/surface.ts';
import { requestArbitrary } from '../../protocols/canonical-arbitraries.ts';
import { toText } from '../../protocols/codec-laws.ts';
import { ROWS } from '../../protocols/translation-rows.ts';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import type { RawAnswer } from '../../support/raw-client.ts';
import {
  expectCleanLog,
  expectFamilyAnswer,
  expectSettled,
  FAMILY_ROWS,
  modesOf,
  titleOf,
} from './families.ts';
import { hostileJson, mutatedBytes } from './hostile-bytes.ts';
import { encodeRequest } from '../../support/protocols.ts';

/** For each family, and twice as many where there are streams. */
const RUNS = { numRuns: runsOf(12, 60), seed: SEED, endOnFailure: true };
const TYPES = [
  'application/json',
  'text/plain',
  'application/json; charset=utf-16',
  'application/xml',
  '',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary="a',
  'multipart/form-data; boundary=conformance-b0undary',
  'application/x-www-form-urlencoded',
];

let mock: MockServer;
let gateway: TestGateway;

/** A model for each family's own protocol, and one for each protocol that it is translated to. */
beforeAll(async () => {
  mock = await startMockServer();
  const providers = FAMILY_ROWS.map(
    ({ protocol, upstreamPath: path }) => [protocol, path] as const,
  );
  gateway = await startGateway({
    server: { limits: { interaction_wait: '200ms' } },
    providers: [...new Map(providers)].map(([protocol, path]) => ({
      name: protocol,
      type: 'custom',
      base_url: mock.url,
      auth: { type: 'none' },
      protocols: { [protocol]: { path } },
    })),
    models: FAMILY_ROWS.filter((row) => row.path('', false) !== '/v1/images/edits').map((row) => ({
      name: `to/${row.protocol}`,
      type: row.modelType ?? 'llm',
      routes: [
        { provider: row.protocol, upstream_model: 'echo', mapping: 'translated', pricing: 'free' },
      ],
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await mock.close();
});

interface Hostile {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** What the family takes, in its simplest form and with everything that its protocol can say. */
function validBodies(row: SurfaceRow, model: string, stream: boolean): fc.Arbitrary<Buffer> {
  const plain = fc.constant(Buffer.from(row.body(model, stream)));
  const own = ROWS.find(({ id }) => id === row.protocol);
  if (!own) return plain;
  const { codec } = own;
  const rich = requestArbitrary({ features: codec.features }).map((request) => {
    const options = { model, askUsage: true, defaultMaxTokens: 64, losses: [] };
    return Buffer.from(toText(encodeRequest(codec, { ...request, stream }, options).value));
  });
  return fc.oneof(plain, rich);
}

function modelsOf({ protocol }: SurfaceRow): readonly string[] {
  const own = ROWS.find(({ id }) => id === protocol);
  const others = own ? ROWS.filter((one) => one !== own).map(({ id }) => id) : [];
  return [protocol, protocol, ...others].map((id) => `to/${id}`);
}

function hostileRequests(row: SurfaceRow, stream: boolean): fc.Arbitrary<Hostile> {
  const isForm = row.contentType !== undefined;
  const type = row.contentType ?? 'application/json';
  const types = fc.oneof(
    { weight: 8, arbitrary: fc.constant(type) },
    { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
  );
  return fc.constantFrom(...modelsOf(row)).chain((model) =>
    fc.record({
      path: fc.constant(row.path(model, stream)),
      headers: types.map((one) => ({
        ...row.carriers[0]?.(gateway.clientKey).headers,
        'content-type': one,
      })),
      body: validBodies(row, model, stream).chain((body) =>
        isForm ? mutatedBytes(body) : hostileJson(body.toString()),
      ),
    }),
  );
}

describe.each(FAMILY_ROWS.map((row) => [titleOf(row), row] as const))('%s', (_title, row) => {
  for (const stream of modesOf(row)) {
    it(
      verifies(
        'ops.unhandled',
        `answers hostile bodies in its shape, never with 5xx${stream ? ', streaming' : ''}`,
      ),
      { timeout: 150_000 + RUNS.numRuns * 1_000 },
      async () => {
        const answers: RawAnswer[] = [];
        await fc.assert(
          fc.asyncProperty(hostileRequests(row, stream), async ({ path, headers, body }) => {
            const answer = await askRaw(gateway.url + path, { method: 'POST', headers, body });
            expect(answer.status, answer.body.toString('utf8')).toBeLessThan(500);
            expect(expectFamilyAnswer(row, answer)).not.toBe('error');
            answers.push(answer);
          }),
          RUNS,
        );
        for (const answer of answers)
          expect(await expectSettled(gateway, answer)).toMatch(/^(?:ok|error|none)$/);
        const headers = { ...row.carriers[0]?.(gateway.clientKey).headers };
        if (row.contentType !== undefined) headers['content-type'] = row.contentType;
        const model = `to/${row.protocol}`;
        const url = gateway.url + row.path(model, stream);
        const after = await askRaw(url, { headers, body: row.body(model, stream) });
        expect(expectFamilyAnswer(row, after)).toBe(stream ? 'whole' : 'answer');
        expectCleanLog(gateway);
      },
    );
  }
});
