import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RESOURCES } from '../../src/resources/registry.ts';
import { largeBody, operationsWithBodies } from '../bench/stall-paths.js';
import { verifies } from '../requirements.ts';
import { askRaw } from '../support/raw-client.ts';
import { startApiWorld } from './support/api-world.ts';
import type { ApiWorld, Member } from './support/api-world.ts';
import { makeBelongings } from './support/belongings.ts';
import { sampleCalls } from './support/sample-calls.ts';
import type { Sample } from './support/sample-calls.ts';

const MOST = 1000;
const MANY = Array.from({ length: MOST }, () => ({}));
/** Passed on as it is. */
const OPAQUE = /^\w+ \/v1\/api\//;
/** Where model calls are made. */
const INFERENCE =
  /^POST \/(v1(beta)?\/(chat|responses|messages|embeddings|images|interactions|models|videos|contents)|v1\/run)/;

let world: ApiWorld;
let member: Member;
let samples: Sample[];

beforeAll(async () => {
  const limits = { interaction_wait: '100ms', body_values: MOST, resource_values: MOST };
  world = await startApiWorld({ limits });
  member = await world.addMember('sender');
  const outside = world.outside.url;
  const named = { ...(await makeBelongings(member, outside, 'slug')), outside };
  samples = sampleCalls(world.document, named).filter(
    ({ operation, body }) =>
      typeof body === 'object' && body !== null && !Array.isArray(body) && !OPAQUE.test(operation),
  );
});
afterAll(() => world.stop());

/** Those with one more member that holds more than may be held. */
const swollen = (one: Sample): Sample => ({ ...one, body: { ...(one.body as object), x: MANY } });
/** But for what grows by itself. */
const shown = (body: unknown): string =>
  JSON.stringify(body, (name, value: unknown) => (name === 'duration_seconds' ? 0 : value));
/** Bytes that a text within the bound may have here; a body above it in one `JSON.parse` is unbounded. */
const SHORT = 10_000;
const settingOf = ({ operation }: Sample): string =>
  INFERENCE.test(operation) ? 'server.limits.body_values' : 'server.limits.resource_values';

describe('a body of more values than its bound', () => {
  it(
    verifies('limits.values.resources', 'is refused by every documented operation that takes JSON'),
    async () => {
      expect(new Set(samples.map(({ operation }) => operation)).size).toBeGreaterThan(30);
      for (const one of samples) {
        const isResource = !INFERENCE.test(one.operation);
        const look = { method: 'GET', path: one.path };
        const before = isResource ? await member.send(look) : undefined;
        const { status, body } = await member.send(swollen(one));
        expect([one.operation, status], JSON.stringify(body)).toEqual([one.operation, 400]);
        expect(JSON.stringify(body), one.operation).toContain(settingOf(one));
        if (before?.status === 200)
          expect(shown((await member.send(look)).body)).toBe(shown(before.body));
      }
    },
    120_000,
  );

  it.each(RESOURCES.map(({ kind, path }) => [kind, path] as const))(
    verifies('limits.values.resources', 'is refused by the admin path of %s'),
    async (kind, path) => {
      const list = await world.gateway.admin('GET', path);
      const named: Record<string, string> = { 'idempotency-key': `named-${kind}` };
      for (const headers of [{}, named]) {
        const { status, body } = await askRaw(`${world.gateway.url}${path}`, {
          key: world.gateway.adminKey,
          body: JSON.stringify({ name: 'many', x: MANY }),
          headers: { 'content-type': 'application/json', ...headers },
        });
        expect(status, body.toString()).toBe(400);
        expect(JSON.parse(body.toString())).toMatchObject({
          error: { message: expect.stringContaining('server.limits.resource_values') },
        });
      }
      const after = await world.gateway.admin('GET', path);
      expect(after.body).toEqual(list.body);
    },
  );

  it('is refused before anything is made of it', async () => {
    const body = Buffer.from(`{"model":"acme/text","x":[${'{},'.repeat(9_000_000)}{}]}`);
    const { longest, done } = watchParsing();
    try {
      for (const path of ['/v1/chat/completions', '/v1/agents'])
        expect((await post({ method: 'POST', path }, { body, key: member.key })).status).toBe(400);
    } finally {
      done();
    }
    expect(longest()).toBeLessThan(SHORT);
  });

  it(
    verifies('limits.stall.every-path', 'is parsed by no operation of the stall benchmark'),
    async () => {
      const admin = await world.gateway.call('GET', '/admin/openapi.json', { key: '' });
      const listed = operationsWithBodies([world.document, admin.body]);
      const values = `[${'1,'.repeat(SHORT)}1]`;
      const accepted: string[] = [];
      let bounded = 0;
      const { longest, done } = watchParsing();
      try {
        for (const { method, path, template, members } of listed) {
          const key = path.startsWith('/admin/') ? world.gateway.adminKey : member.key;
          const sent = await post({ method, path }, { body: largeBody(members, values), key });
          if (sent.body.includes('server.limits.')) bounded += 1;
          if (sent.status < 400) accepted.push(`${method} ${template}`);
        }
      } finally {
        done();
      }
      expect(listed.length).toBeGreaterThan(80);
      expect(bounded).toBeGreaterThan(30);
      // It has no parameters, and reads no body.
      expect(accepted).toEqual(['POST /admin/v1/console/links']);
      expect(longest()).toBeLessThan(SHORT);
    },
    60_000,
  );
});

/** Remembers the length of the longest text that `JSON.parse` reads. */
function watchParsing(): { longest(): number; done(): void } {
  const parse = vi.spyOn(JSON, 'parse');
  let longest = 0;
  return {
    longest: () => longest,
    done() {
      longest = Math.max(0, ...parse.mock.calls.map(([text]) => text.length));
      parse.mockRestore();
    },
  };
}

function post(
  { method, path }: { method: string; path: string },
  { body, key }: { body: Buffer | string; key: string },
) {
  return askRaw(world.gateway.url + path, {
    method,
    key,
    body,
    headers: { 'content-type': 'application/json' },
  });
}
