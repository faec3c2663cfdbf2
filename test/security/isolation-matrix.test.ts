import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/resources/registry.ts';
import { operationsOf } from '../e2e/api/openapi-checker.ts';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import type { Answer } from '../support/gateway.ts';
import { startApiWorld } from './support/api-world.ts';
import type { ApiWorld, Member } from './support/api-world.ts';
import { makeBelongings, SHARED_NAME } from './support/belongings.ts';
import type { Belongings } from './support/belongings.ts';
import { LINKED, OWNED, ownedBy, sampleCalls } from './support/sample-calls.ts';
import type { Named, Sample } from './support/sample-calls.ts';

let world: ApiWorld;
let owner: Member;
let stranger: Member;
/** Of the owner, of the stranger, and of nobody. */
let theirs: Named;
let own: Named;
let none: Named;
/** Everything of the owner, more than one of each. */
let secrets: readonly string[];

beforeAll(async () => {
  // Runs are answered when they are over.
  world = await startApiWorld({ limits: { interaction_wait: '60s' } });
  owner = await world.addMember('owner');
  stranger = await world.addMember('stranger');
  const outside = world.outside.url;
  const more = await makeBelongings(owner, outside, 'one-more');
  theirs = { ...(await makeBelongings(owner, outside)), outside };
  own = { ...(await makeBelongings(stranger, outside)), outside };
  none = { ...own, ...nobodys(theirs) };
  secrets = Object.values({ ...theirs, outside: owner.key }).concat(Object.values(more));
  await eventually(async () => !(await rowsOf(owner.organization)).some((row) => isJob(row)));
  // Only a paused Schedule may be bound to another Agent.
  await stranger.made({ method: 'POST', path: `/v1/deployments/${own.deployment}/pause` });
});
afterAll(() => world.stop());

/** Names of the same form that were never given. */
function nobodys({ outside: _outside, ...ids }: Named): Belongings {
  const entries = Object.entries(ids).map(([name, id]) => [
    name,
    id.replace(/(?<=[_-])[0-9a-z]{20,}/, (unique) => '0'.repeat(unique.length)),
  ]);
  return Object.fromEntries(entries);
}

/** What is asked for beside the samples of the document. */
function furtherCalls(named: Named): Sample[] {
  const get = (path: string, headers: Record<string, string> = {}): Sample => ({
    operation: `GET ${path}`,
    method: 'GET',
    path,
    headers,
  });
  const lists = operationsOf(world.document).flatMap(({ method, path, operation }) =>
    method === 'GET' && !path.includes('{')
      ? (operation.parameters ?? []).map(({ name }) => ({ path, name }))
      : [],
  );
  const filters: Partial<Record<string, string>> = {
    organization: named.organization,
    agent_id: named.agent,
    deployment_id: named.deployment,
    id: named.file,
    name: named.name,
    q: named.name,
    after: named.video,
  };
  return [
    get(`/v1/tasks/${named.video}`),
    get(`/v1/tasks/${named.execution}`),
    get(`/v1/endpoints/${named.name}`),
    get(`/v1/account/usage?organization=${named.organization}`),
    get(`/v1/account/budgets?organization=${named.organization}`),
    get(`/v1/account/executions?organization=${named.organization}`),
    get(`/v1/sessions/${own.session}/events/stream`, { 'last-event-id': named.event }),
    ...lists.flatMap(({ path, name }) => {
      const value = filters[name];
      return value === undefined ? [] : [get(`${path}?${name}=${encodeURIComponent(value)}`)];
    }),
  ];
}

const allCalls = (named: Named): Sample[] => [
  ...sampleCalls(world.document, named),
  ...furtherCalls(named),
];

interface Pair {
  /** Which of the owner's things is named. */
  thing: keyof Belongings;
  foreign: Sample;
  absent: Sample;
}

/** Every call of the stranger with one thing of the owner in it, and the same with one of nobody. */
function pairs(): Pair[] {
  const plain = allCalls(own).map((call) => JSON.stringify(call));
  const things = Object.keys(nobodys(theirs)) as (keyof Belongings)[];
  return things
    .filter((thing) => thing !== 'assetLink' && thing !== 'response')
    .flatMap((thing) => {
      const absent = allCalls({ ...own, [thing]: none[thing] });
      return allCalls({ ...own, [thing]: theirs[thing] })
        .map((foreign, index) => ({ thing, foreign, absent: absent[index]! }))
        .filter(({ foreign }, index) => JSON.stringify(foreign) !== plain[index]);
    });
}

/** An answer without what differs between any two calls. */
function comparable({ status, headers, body }: Answer, thing: keyof Belongings): object {
  const told = [...headers].filter(
    ([name]) => !['date', 'request-id', 'x-request-id', 'content-length'].includes(name),
  );
  const text = [theirs[thing], none[thing]]
    .flatMap((id) => [id, encodeURIComponent(id)])
    .reduce((rest, id) => rest.replaceAll(id, '<named>'), JSON.stringify([told, body]))
    .replaceAll(/\b[a-z]+_[0-9a-z]{26}\b/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
  return { status, text };
}

/** Work that will still be done. */
const isJob = (row: string): boolean => row.startsWith('{"key":["job"');

/** What the store holds of an organization. */
async function rowsOf(organization: string): Promise<string[]> {
  const rows = await world.gateway.gateway!.store.list({ prefix: [], limit: 10_000 });
  return rows.map((row) => JSON.stringify(row)).filter((row) => row.includes(organization));
}

/** Of rows before and after, those that only one of them has. */
function changesOf(before: readonly string[], after: readonly string[]): string[] {
  return [
    ...before.filter((row) => !after.includes(row)),
    ...after.filter((row) => !before.includes(row)),
  ];
}

/** What depends on when one looks. */
const PASSING: ReadonlySet<string> = new Set(['request_id', 'download_url', 'duration_seconds']);

/** Everything that a member sees of what is theirs. */
async function viewsOf(member: Member, named: Named): Promise<string[]> {
  const views: string[] = [];
  for (const call of sampleCalls(world.document, named)) {
    // A look at a Response is a request with a record, as those of models are.
    if (call.method !== 'GET' || /\/models|\/api\/|\/responses\//.test(call.path)) continue;
    const { status, body } = await member.send(call);
    const shown = JSON.stringify(body, (member, value) => (PASSING.has(member) ? 0 : value));
    views.push(`${call.operation} ${status} ${shown}`);
  }
  return views;
}

/** Calls that are right whatever is named there, since it is only kept and shown. */
const isKeptAlone = ({ operation, body }: Sample, thing: keyof Belongings): boolean =>
  operation === 'POST /v1/sessions' && thing === 'file' && 'resources' in Object(body);

/** How each family says that what a call names is not there. */
function isRefusal({ operation }: Sample, { status, body }: Answer): boolean {
  const told = JSON.stringify(body);
  if (/\/(mcp|acp)$/.test(operation) && status === 200) return /"(error|isError)"/.test(told);
  if (/no such asset/.test(told)) return status === 400 || body.status === 'failed';
  if (/no event of this session|after_id: expected the id/.test(told)) return status === 400;
  return status === 404;
}

/** Lists that nothing of the stranger fits. */
const isEmptyList = ({ status, body }: Answer): boolean =>
  status === 200 && Array.isArray(body.data) && body.data.length === 0;

/** Members that end in `_id` and are kept as they come, or only ever answered. */
const FREE: ReadonlySet<string> = new Set([
  'vault_ids',
  'environment_id',
  'external_id',
  'latest_version_id',
  'deployment_id',
  'client_id',
]);

/** What of the owner's is in an answer. */
function shownOf(body: unknown): string[] {
  const text = JSON.stringify(body);
  return secrets.filter((secret) => secret !== SHARED_NAME && text.includes(secret));
}

/** A filter that finds nothing, or one that is none and changes nothing. */
function isHidden(answer: Answer, { path }: Sample): boolean {
  const shown = JSON.stringify(answer.body);
  const asked = decodeURIComponent(path);
  const seen = secrets.filter((secret) => !asked.includes(secret) && shown.includes(secret));
  return isEmptyList(answer) || seen.length === 0;
}

describe('what one organization has', () => {
  it(
    verifies(
      'resource.org-isolation',
      'run.get.result',
      'tasks.lookup',
      'assets.get.404-502',
      'interactions.get.same-key-only',
      'files.minimum',
      'is for another as if it did not exist, wherever it is named, and nothing happens to it',
    ),
    async () => {
      const views = await viewsOf(owner, theirs);
      const rows = await rowsOf(owner.organization);
      const tried = pairs();
      for (const { thing, foreign, absent } of tried) {
        const [found, missing] = [await stranger.send(foreign), await stranger.send(absent)];
        const what = `${foreign.operation} with ${thing} of another`;
        if (isKeptAlone(foreign, thing)) {
          expect([found.status, missing.status], what).toEqual([201, 201]);
          await stranger.made({ method: 'DELETE', path: `/v1/sessions/${found.body.id}` });
          continue;
        }
        expect(comparable(found, thing), what).toEqual(comparable(missing, thing));
        const isList = foreign.path.includes('?');
        const shown = `${what}: ${found.status} ${JSON.stringify(found.body)}`;
        if (isList && found.status === 200) expect(isHidden(found, foreign), shown).toBe(true);
        else expect(isRefusal(foreign, found), shown).toBe(true);
      }
      expect(tried.length).toBeGreaterThan(100);
      expect(changesOf(rows, await rowsOf(owner.organization))).toEqual([]);
      expect(changesOf(views, await viewsOf(owner, theirs))).toEqual([]);
    },
  );

  it(
    verifies(
      'resource.org-isolation',
      'is in no list of another, and none of its cursors leads there',
    ),
    async () => {
      const lists = operationsOf(world.document).filter(
        ({ method, path }) => method === 'GET' && !/\{|\/v1(beta)?\/models$/.test(path),
      );
      let cursors = 0;
      for (const { path, operation } of lists) {
        const whole = await stranger.made({ method: 'GET', path });
        expect(shownOf(whole), path).toEqual([]);
        const names = (operation.parameters ?? []).map(({ name }) => name);
        if (!names.includes('page') && !names.includes('after')) continue;
        const first = await owner.made({ method: 'GET', path: `${path}?limit=1` });
        const cursor = first.next_page ?? first.last_id;
        if (typeof cursor !== 'string') continue;
        const param = cursor === first.next_page ? 'page' : 'after';
        cursors += 1;
        const next = `${path}?limit=1&${param}=${encodeURIComponent(cursor)}`;
        const second = await owner.made({ method: 'GET', path: next });
        expect(second.data.length, path).toBe(1);
        const { status, body } = await stranger.send({ method: 'GET', path: next });
        expect([path, [200, 400, 404].includes(status), shownOf(body)]).toEqual([path, true, []]);
      }
      expect(cursors).toBeGreaterThanOrEqual(9);
    },
  );

  it(verifies('resource.org-isolation', 'is not what a call of the same name gives'), async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'named', model: 'acme/text' };
    const call = { method: 'POST', path: '/v1/agents', body, headers };
    const made = await owner.made(call);
    const answer = await stranger.send(call);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect(answer.body.id).not.toBe(made.id);
    const path = `/v1/agents/${made.id}`;
    expect((await stranger.send({ method: 'GET', path })).status).toBe(404);
    expect((await owner.made({ method: 'POST', path: '/v1/agents', body, headers })).id).toBe(
      made.id,
    );
  });

  it(
    verifies('resource.org-isolation', 'cannot be gone on with, where the provider would do so'),
    async () => {
      const body = { model: 'acme/text', input: 'hello', previous_response_id: theirs.response };
      const call = { method: 'POST', path: '/v1/responses', body };
      expect((await owner.send(call)).status).toBe(200);
      expect(await stranger.send(call)).toMatchObject({
        status: 400,
        body: { error: { message: 'the request continues something that is not known here' } },
      });
    },
  );
});

describe('what one key made', () => {
  it(
    verifies(
      'interactions.get.same-key-only',
      'is for the other keys of its organization, too, Interactions aside',
    ),
    async () => {
      const fields = { name: 'sibling', organization: owner.organization };
      const { body } = await world.gateway.admin('POST', '/admin/v1/keys', fields);
      const authorization = `Bearer ${body.value}`;
      for (const call of sampleCalls(world.document, theirs)) {
        if (call.method !== 'GET') continue;
        const headers = { ...call.headers, authorization };
        const { status } = await owner.send({ ...call, headers });
        const isTheirs = call.operation.endsWith('/interactions/{id}');
        expect([call.operation, status]).toEqual([call.operation, isTheirs ? 404 : 200]);
      }
    },
  );
});

describe('the matrix', () => {
  it('knows one of every kind that organizations have', () => {
    for (const { kind, api, organizationScoped } of RESOURCES) {
      // Of organizations, but in the hands of administrators alone.
      if (kind === 'api_key' || kind === 'budget') continue;
      expect([kind, api !== undefined]).toEqual([kind, organizationScoped]);
      if (api) expect(OWNED, kind).toHaveProperty([api.path]);
    }
    for (const { path } of operationsOf(world.document))
      if (path !== LINKED) expect(() => ownedBy(path), path).not.toThrow();
  });

  it('names something of another in every place of a body that is for ids', () => {
    const asked = JSON.stringify(world.document.components.schemas);
    const places = new Set([...asked.matchAll(/"(\w+_ids?)":\{/g)].map(([, name = '']) => name));
    const tried = pairs().map(({ foreign }) => JSON.stringify([foreign.path, foreign.body]));
    for (const place of places) {
      if (FREE.has(place)) continue;
      const isTried = tried.some((call) => call.includes(`"${place}":`) || call.includes(place));
      expect(isTried, place).toBe(true);
    }
  });
});
