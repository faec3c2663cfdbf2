import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/resources/registry.ts';
import { SCOPES } from '../../src/core/access.ts';
import type { ScopeName } from '../../src/core/access.ts';
import { verifies } from '../requirements.ts';
import { IS_ALL, numberOfCommit } from '../runs.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { createKeepAliveClient } from './support/keep-alive-client.ts';
import { targetsOf } from './support/route-targets.ts';
import type { Target } from './support/route-targets.ts';

/** `any`: a key, whatever it may be used for. `none`: no key at all. */
type Need = ScopeName | 'any' | 'none';

/** What each route needs, as the contract and the decisions have it. */
const NEEDS: readonly (readonly [route: RegExp, need: Need])[] = [
  [/^GET \/(healthz|readyz|(admin\/)?openapi\.json)$/, 'none'],
  // A signed link says it all; nothing else is looked at with HEAD.
  [/^(GET|HEAD) \/v1\/assets\/none\/content$/, 'none'],
  [/^HEAD \/v1\/assets\/none$/, 'none'],
  [/^\w+ \/admin\/v1\//, 'admin'],
  [/^GET \/v1(beta)?\/models(\/|$)/, 'models'],
  [/^POST \/v1(beta)?\/(models\/|[^/]+\/[^/]+:)/, 'inference'],
  [/^POST \/v1\/(chat\/completions|responses|embeddings|images|messages)(\/|$)/, 'inference'],
  [/^\w+ \/v1(beta)?\/interactions(\/|$)/, 'inference'],
  [/^(GET|DELETE) \/v1\/responses\//, 'inference'],
  [/^\w+ \/v1\/(videos|contents\/generations\/tasks|api)(\/|$)/, 'inference'],
  [/^(GET|POST) \/v1\/assets(\/none)?$/, 'assets'],
  [/^\w+ \/v1\/run(\/|$)/, 'run'],
  [/^\w+ \/v1\/webhooks\/deliveries(\/|$)/, 'run'],
  [/^\w+ \/v1\/webhooks\/secret\//, 'credentials'],
  [/^\w+ \/v1\/agents(\/|$)/, 'agents'],
  [/^\w+ \/v1\/(sessions|files)(\/|$)/, 'sessions'],
  [/^\w+ \/v1\/endpoints(\/|$)/, 'endpoints'],
  [/^\w+ \/v1\/(deployments|deployment_runs)(\/|$)/, 'deployments'],
  [/^\w+ \/v1\/credentials(\/|$)/, 'credentials'],
  [/^\w+ \/v1\/skills(\/|$)/, 'skills'],
  // Who signs in has no key yet.
  [/^(GET \/v1\/account\/sso|POST \/v1\/account\/sso\/(device|key))$/, 'none'],
  [/^DELETE \/v1\/account\/sso\/key$/, 'any'],
  [/^GET \/v1\/account\/key$/, 'any'],
  [/^GET \/v1\/account\/(balance|usage|budgets|executions)(\/|$)/, 'account'],
  [/^GET \/v1\/tasks(\/|$)/, 'account'],
];

function needOf({ method, path }: Target): Need {
  const found = NEEDS.filter(([route]) => route.test(`${method} ${path}`));
  // A new route fails here until it is said who may call it.
  expect(found.length, `${method} ${path}`).toBe(1);
  return found[0]?.[1] ?? 'none';
}

type Carrier = 'bearer' | 'x-api-key' | 'x-native-api-key' | 'x-goog-api-key' | 'key';
const CARRIERS: readonly Carrier[] = [
  'bearer',
  'x-api-key',
  'x-native-api-key',
  'x-goog-api-key',
  'key',
];
const GOOGLE: readonly Carrier[] = ['x-native-api-key', 'x-goog-api-key', 'bearer', 'key'];

/** Where a route looks for the key (contract: Authentication). */
function carriersOf({ method, path }: Target): readonly Carrier[] {
  if (path.startsWith('/v1/messages')) return ['x-api-key', 'bearer'];
  if (/^\/v1(beta)?\/interactions/.test(path) || path.startsWith('/v1beta/')) return GOOGLE;
  return method === 'POST' && path.startsWith('/v1/models/') ? GOOGLE : ['bearer'];
}

let clock: FakeClock;
let gateway: TestGateway;
let targets: readonly Target[];
/** One of each that differs by what it needs, its method and the form of its path. */
let rows: readonly Target[];
/** One of each that differs by where it carries a key, its method and the begin of its path. */
let families: readonly Target[];

beforeAll(async () => {
  clock = createFakeClock();
  gateway = await startGateway({}, { clock });
  const { body } = await gateway.call('GET', '/openapi.json', { key: '' });
  // HEAD is served by the handler of GET, and shows no body to look into.
  targets = targetsOf(gateway, body).filter(({ method }) => method !== 'HEAD');
  const oneOfEach = (nameOf: (target: Target) => string): Target[] => [
    ...new Map(targets.map((target) => [nameOf(target), target])).values(),
  ];
  const formOf = (target: Target): string =>
    [
      needOf(target),
      target.method,
      ...target.title.split('/').map((part) => part.replace(/^[\w-]+$/, '')),
    ].join();
  rows = oneOfEach(formOf);
  families = oneOfEach((target) =>
    [needOf(target) === 'none', ...carriersOf(target), target.method]
      .concat(target.path.split('/').slice(1, 4))
      .join(),
  );
});
afterAll(() => gateway.stop());

let keys = 0;
async function createKey(fields: object = {}): Promise<{ id: string; value: string }> {
  const name = `key-${++keys}`;
  const { status, body } = await gateway.admin('POST', '/admin/v1/keys', { name, ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

interface Told {
  status: number;
  text: string;
}

async function ask(
  { method, path }: Target,
  headers: Record<string, string>,
  query = '',
): Promise<Told> {
  const answer = await fetch(`${gateway.url}${path}${query}`, {
    method,
    headers,
    ...(/^(POST|PUT|PATCH)$/.test(method) && { body: '{}' }),
  });
  const isEndless = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (isEndless) await answer.body?.cancel();
  return { status: answer.status, text: isEndless ? '' : await answer.text() };
}

/** The call with this in each of the carriers. */
function carried(target: Target, carriers: readonly Carrier[], key: string): Promise<Told> {
  const headers = carriers
    .filter((carrier) => carrier !== 'key')
    .map((name) => (name === 'bearer' ? ['authorization', `Bearer ${key}`] : [name, key]));
  const query = carriers.includes('key') ? `?key=${key}` : '';
  return ask(target, Object.fromEntries(headers), query);
}

/** Whether the checks of keys let a call pass, whatever came of it then. */
function passed({ status, text }: Told): boolean {
  return status !== 401 && (status < 400 || !text.includes('insufficient_scope'));
}

/** Other ways to write a path, which some router may take for the same. */
const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `${path}?`,
  (path) => `${path};a=b`,
  (path) => `/${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace(/\/(?=[^/]*$)/, '%2f'),
  (path) => `/healthz/..${path}`,
  (path) => `/healthz/%2e%2e${path}`,
  (path) => `/.${path}`,
  (path) => `${path}%00`,
  (path) => `${path}%20`,
  (path) => `http://other.example${path}`,
  (path) => `\\${path.slice(1)}`,
];

/** Several at a time. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

/** A third of the routes, others for each case; a few commits have each route meet every case. */
function thirdOf(all: readonly Target[], index: number): readonly Target[] {
  return IS_ALL ? all : all.filter((_, at) => (at + index + numberOfCommit()) % 3 === 0);
}

const asked = ({ title }: Target, what: string): string => `${title} ${what}`;

describe('every route', () => {
  it('is known to the matrix, and every kind is served with the scope that it declares', () => {
    expect(targets.length).toBeGreaterThan(200);
    for (const target of targets) needOf(target);
    for (const { api } of RESOURCES) {
      if (!api) continue;
      expect(needOf({ method: 'GET', path: api.path, title: '' })).toBe(api.scope);
    }
  });

  it(
    verifies(
      'auth.scope.insufficient',
      'auth.scope.console-key-org-wide',
      'auth.scope.vocabulary',
      'keys.admin.separate-surface',
      'credentials.server-side-only',
      'lets in the keys that hold its scope, and no other',
    ),
    async () => {
      // A key holds a scope or does not, so that these two say of each set what it opens.
      const keyWith = async (scopes: readonly ScopeName[] | null): Promise<string> =>
        (await createKey({ scopes })).value;
      const [none, unlisted] = [await keyWith([]), await keyWith(null)];
      const only = new Map<Need, string>();
      const others = new Map<Need, string>();
      for (const scope of SCOPES) {
        only.set(scope, await keyWith([scope]));
        others.set(scope, await keyWith(SCOPES.filter((other) => other !== scope)));
      }
      const wrong: string[] = [];
      const look = async (target: Target, value: string, may: boolean): Promise<void> => {
        const told = await carried(target, ['bearer'], value);
        const isRight = passed(told) === may && (may || told.status === 403);
        if (!isRight) wrong.push(`${asked(target, String(may))}: ${told.status} ${told.text}`);
      };
      await forEach(targets, async (target) => {
        const need = needOf(target);
        await look(target, only.get(need) ?? none, true);
        const without = others.get(need);
        if (without !== undefined) await look(target, without, false);
      });
      await forEach(rows, async (target) => {
        const need = needOf(target);
        await look(target, none, need === 'none' || need === 'any');
        await look(target, unlisted, need !== 'admin');
      });
      expect(wrong).toEqual([]);
    },
  );

  it(
    verifies(
      'auth.standard.bearer-only',
      'auth.messages.carriers',
      'auth.google.carriers',
      'auth.google.vendor-alias',
      'auth.key.required',
      'auth.key.missing-message',
      'reads the key where its family carries it, and nowhere else',
    ),
    async () => {
      const { value } = await createKey({ scopes: SCOPES });
      const wrong: string[] = [];
      await forEach(families, async (target) => {
        const own = carriersOf(target);
        const others = CARRIERS.filter((carrier) => !own.includes(carrier));
        // Where a key is needed, any one of the others that was read would be enough.
        for (const carriers of [...own.map((carrier) => [carrier]), others]) {
          const may = needOf(target) === 'none' || carriers !== others;
          const told = await carried(target, carriers, value);
          const isRight = passed(told) === may && (may || isMissing(told, target));
          if (!isRight)
            wrong.push(`${asked(target, carriers.join())}: ${told.status} ${told.text}`);
        }
      });
      expect(wrong).toEqual([]);
    },
  );

  it(
    verifies('auth.key.required', 'is behind the same checks however its path is spelled'),
    async () => {
      const { value } = await createKey({ scopes: [] });
      const clients = Array.from({ length: 4 }, () => createKeepAliveClient(gateway.url));
      const headers = { authorization: `Bearer ${value}` };
      const guarded = rows.filter((target) => !['none', 'any'].includes(needOf(target)));
      const wrong: string[] = [];
      for (const [index, spell] of SPELLINGS.entries()) {
        const queue = thirdOf(guarded, index).values();
        await Promise.all(
          clients.map(async (client) => {
            for (const { method, path } of queue) {
              const target = spell(path);
              const body = Buffer.from(method === 'GET' ? '' : '{}');
              const { status, text } = await client.send({ method, target, headers, body });
              if (status < 400 || status > 499)
                wrong.push(`${method} ${target}: ${status} ${text}`);
            }
          }),
        );
      }
      for (const client of clients) client.close();
      expect(wrong).toEqual([]);
    },
  );

  it(
    verifies(
      'auth.bearer.parsing',
      'auth.key.required',
      'takes what is no key in the right place for none',
    ),
    async () => {
      const { value } = await createKey({ scopes: SCOPES });
      const forms = ['', 'Bearer', 'Bearer ', `Basic ${value}`, value, `Bearer ${value} more`];
      const wrong: string[] = [];
      for (const [index, authorization] of forms.entries()) {
        await forEach(thirdOf(rows, index), async (target) => {
          if (needOf(target) === 'none') return;
          const told = await ask(target, { authorization });
          if (isMissing(told, target)) return;
          wrong.push(`${asked(target, authorization)}: ${told.status} ${told.text}`);
        });
      }
      expect(wrong).toEqual([]);
    },
  );

  it(
    verifies(
      'auth.key.unknown-message',
      'auth.key.revoked-message',
      'auth.key.expired-message',
      'says of every key that is none any more what became of it, wherever it is carried',
    ),
    async () => {
      const revoked = await createKey({ scopes: SCOPES });
      await gateway.admin('POST', `/admin/v1/keys/${revoked.id}/revoke`);
      const expires_at = new Date(clock.now() + 1_000).toISOString();
      const expired = await createKey({ scopes: SCOPES, expires_at });
      const shut = await gateway.admin('POST', '/admin/v1/organizations', { name: 'shut' });
      const disabled = await createKey({ scopes: SCOPES, organization: 'shut' });
      await gateway.admin('PATCH', `/admin/v1/organizations/${shut.body.id}`, { enabled: false });
      clock.step(1_000);
      const states: [key: string, status: number, message: string][] = [
        [`sk-${'0'.repeat(64)}`, 401, 'invalid API key'],
        ['no-key-at-all', 401, 'invalid API key'],
        [revoked.value, 401, 'API key has been revoked'],
        [expired.value, 401, 'API key has expired'],
        [disabled.value, 403, 'organization is disabled'],
      ];
      const wrong: string[] = [];
      for (const [index, [key, status, message]] of states.entries()) {
        // Every route turns a revoked key away; the other states differ by what is said alone.
        const some = key === revoked.value ? targets : thirdOf(rows, index);
        await forEach(some, async (target) => {
          if (needOf(target) === 'none') return;
          for (const carrier of carriersOf(target)) {
            const told = await carried(target, [carrier], key);
            if (told.status === status && told.text.includes(`"${message}"`)) continue;
            wrong.push(`${asked(target, `${carrier} ${message}`)}: ${told.status} ${told.text}`);
          }
        });
      }
      clock.step(-1_000);
      expect(wrong).toEqual([]);
    },
  );
});

function isMissing({ status, text }: Told, { method }: Target): boolean {
  const told = '"missing API key in Authorization header"';
  return status === 401 && (method === 'HEAD' || text.includes(told));
}
