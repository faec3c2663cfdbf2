import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FAMILY_ROWS, titleOf } from '../e2e/fuzz/families.ts';
import { createPlaces } from '../../src/config/source/locate.ts';
import { parseYaml } from '../../src/config/source/parse-yaml.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { askRaw } from '../support/raw-client.ts';
import type { RawOptions } from '../support/raw-client.ts';
import { sendJson, startUpstream } from '../support/stage/upstream.ts';
import type { Upstream } from '../support/stage/upstream.ts';

/** Names that reach what all objects share, or are mistaken for a member that there is. */
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
  'toJSON',
  'length',
];
const POISON = '{"polluted":"yes","isAdmin":true,"scopes":["admin"]}';
const POISONED = `"__proto__":${POISON},"constructor":{"prototype":${POISON}}`;

/** What the whole process sees of it must be as it was. */
const before = { object: shapeOf(Object.prototype), array: shapeOf(Array.prototype) };

function shapeOf(prototype: object): string {
  return JSON.stringify(Reflect.ownKeys(prototype).map(String));
}

afterEach(() => {
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(shapeOf(Object.prototype)).toBe(before.object);
  expect(shapeOf(Array.prototype)).toBe(before.array);
});

let upstream: Upstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream((response) =>
    sendJson(response, 400, `{"error":{"message":"no",${POISONED}},${POISONED}}`),
  );
  gateway = await startGateway({
    providers: FAMILY_ROWS.map((row, index) => ({
      name: `p${index}`,
      type: 'custom',
      base_url: upstream.url,
      auth: { type: 'none' },
      protocols: { [row.protocol]: { path: row.upstreamPath } },
    })),
    models: FAMILY_ROWS.flatMap((row, index) =>
      [`m/${index}`, `constructor/${index}`].map((name) => ({
        name,
        type: row.modelType ?? 'llm',
        routes: [{ provider: `p${index}`, upstream_model: '__proto__' }],
      })),
    ),
    apis: [{ name: 'constructor', base_url: upstream.url, auth: { type: 'none' } }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const key = (): string => gateway.clientKey;

interface Told {
  status: number;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of every shape
  body: any;
}

async function send(path: string, options: RawOptions): Promise<Told> {
  const { headers = {} } = options;
  const answer = await askRaw(gateway.url + path, {
    ...options,
    key: key(),
    headers: { 'content-type': 'application/json', ...headers },
  });
  const text = answer.body.toString();
  expect(answer.status, text).toBeLessThan(500);
  return { status: answer.status, text, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const get = (path: string): Promise<Told> => send(path, { method: 'GET' });
const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<Told> =>
  send(path, { body, headers });

describe.each(FAMILY_ROWS.map((row, index) => [titleOf(row), row, index] as const))(
  'a call of %s',
  (_title, row, index) => {
    const isJson = row.contentType === undefined;
    const type = { 'content-type': row.contentType ?? 'application/json' };

    it('is forwarded with such members as they are', async () => {
      upstream.seen.length = 0;
      const sent = row.body(`m/${index}`, false).toString('latin1');
      const body = isJson
        ? sent.replace('{', `{${POISONED},"metadata":{${POISONED}},`)
        : sent.replace('unheard_of', '__proto__');
      const { status } = await post(row.path(`m/${index}`, false), body, type);
      expect(status).toBe(400);
      // A family that gives its requests anew may refuse what it does not know.
      const got = upstream.seen[0]?.body.toString('latin1');
      if (got !== undefined) expect(got).toContain('__proto__');
    });

    it('knows no model of such a name, and one that is called so', async () => {
      for (const name of NAMES) {
        const body = row.body(name, false);
        const { status } = await post(row.path(name, false), body.toString('latin1'), type);
        expect([400, 404]).toContain(status);
      }
      upstream.seen.length = 0;
      const own = `constructor/${index}`;
      await post(row.path(own, false), row.body(own, false).toString('latin1'), type);
      expect(upstream.seen).toHaveLength(1);
    });
  },
);

describe('a resource', () => {
  const labels = '{"__proto__":"a","constructor":"b","toString":"c"}';
  const agent = (name: string, more = '') =>
    `{"name":${JSON.stringify(name)},"model":"m/0","labels":${labels},"metadata":${labels},${POISONED}${more}}`;

  it.each(NAMES)('may be called %s and is found by that name alone', async (name) => {
    const made = await post('/v1/agents', agent(name));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ name });
    expect(made.body.polluted).toBeUndefined();
    const got = await get(`/v1/agents/${made.body.id}`);
    expect(got.body.name).toBe(name);
    expect((await get(`/v1/agents/${name}`)).status).toBe(404);
    const changed = await send(`/v1/agents/${made.body.id}`, {
      method: 'PATCH',
      body: `{"version":1,${POISONED}}`,
    });
    expect(changed.body.polluted).toBeUndefined();
  });

  it('keeps what it is told of such labels and metadata, or refuses it, and invents none', async () => {
    const { body } = await post('/v1/agents', agent('labelled'));
    for (const map of [body.labels, body.metadata]) {
      expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
      expect(map).toMatchObject({ constructor: 'b', toString: 'c' });
      expect(map.polluted).toBeUndefined();
    }
  });

  it.each(['agents', 'endpoints', 'deployments', 'sessions', 'skills', 'files', 'credentials'])(
    'is not found by such ids, nor listed by such filters: %s',
    async (path) => {
      for (const name of NAMES) {
        expect((await get(`/v1/${path}/${name}`)).status).toBe(404);
        const query = `${name}=1&${name}[]=2&labels[${name}]=3&q=${name}&limit[${name}]=4&order=${name}`;
        await get(`/v1/${path}?${query}&constructor[prototype][polluted]=yes`);
      }
      const { body } = await post(`/v1/${path}`, `{${POISONED}}`);
      expect(body.error).toBeDefined();
    },
  );

  it('gets no scope from such members', async () => {
    const made = await gateway.admin(
      'POST',
      '/admin/v1/keys',
      JSON.parse(`{"name":"narrow","scopes":["models"],"nested":{${POISONED}}}`),
    );
    expect(made.status).toBe(201);
    const asked = await gateway.call('GET', '/admin/v1/keys', { key: made.body.value });
    expect(asked.status).toBe(403);
    const body = `{"name":"none",${POISONED}}`;
    const refused = await gateway.call('POST', '/admin/v1/keys', { key: key(), body });
    expect(refused.status).toBe(403);
  });

  it('of Skills has files of such names, but for the one that would be lost', async () => {
    const names = NAMES.filter((name) => name !== '__proto__');
    const form = new FormData();
    const text = '---\nname: skill\ndescription: of odd names\n---\nHello\n';
    form.append('files[]', new Blob([text]), 'skill/SKILL.md');
    for (const name of names) form.append('files[]', new Blob([name]), `skill/${name}`);
    const headers = { authorization: `Bearer ${key()}` };
    const made = await fetch(`${gateway.url}/v1/skills`, { method: 'POST', headers, body: form });
    // oxlint-disable-next-line typescript/no-explicit-any -- looked into below
    const skill: any = await made.json();
    expect(made.status, JSON.stringify(skill)).toBe(201);
    const content = await fetch(
      `${gateway.url}/v1/skills/${skill.id}/versions/${skill.latest_version_id ?? skill.latest_version}/content`,
      { headers },
    );
    const zip = Buffer.from(await content.arrayBuffer()).toString('latin1');
    for (const name of names) expect(zip).toContain(`${name}${name}`);
    form.append('files[]', new Blob(['lost']), 'skill/__proto__');
    const refused = await fetch(`${gateway.url}/v1/skills`, {
      method: 'POST',
      headers,
      body: form,
    });
    expect(refused.status).toBe(400);
  });
});

describe('a protocol on top', () => {
  it('takes no method, tool or argument from what objects have', async () => {
    const agent = await post('/v1/agents', '{"name":"served","model":"m/0"}');
    const protocols = ['rest', 'mcp', 'acp'];
    const fields = { name: 'odd', agent_id: agent.body.id, protocols };
    const { body: service } = await post('/v1/endpoints', JSON.stringify(fields));
    const call = (path: string, method: string, params: string) =>
      post(
        `/v1/endpoints/${service.id}/${path}`,
        `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params},${POISONED}}`,
        { accept: 'application/json, text/event-stream' },
      );
    for (const name of NAMES) {
      for (const path of ['mcp', 'acp'])
        expect((await call(path, name, `{${POISONED}}`)).text).toMatch(/"error"/);
      const params = `{"name":"${name}","arguments":{${POISONED}},"_meta":{${POISONED}}}`;
      expect((await call('mcp', 'tools/call', params)).text).toMatch(/"error"|isError/);
    }
  });

  it('calls the API that is called so, and no other', async () => {
    for (const name of NAMES.filter((one) => one !== 'constructor'))
      expect((await get(`/v1/api/${name}/x`)).status).toBe(404);
    expect((await get('/v1/api/constructor/x')).text).toContain('"no"');
  });
});

describe('YAML', () => {
  const parse = (text: string) => {
    const source = { file: 'f', directory: '/', text };
    return parseYaml(source, createPlaces());
  };

  it.each([
    '__proto__: {polluted: yes}\n',
    '"__proto__": {polluted: yes}\n',
    '"\\u005f_proto__": {polluted: yes}\n',
    '? __proto__\n: {polluted: yes}\n',
    'a: {__proto__: {polluted: yes}}\n',
    'a: &a {__proto__: {polluted: yes}}\nb: {<<: *a}\n',
  ])('refuses or keeps %j, and gives nothing to what all objects share', (text) => {
    const { documents, diagnostics } = parse(text);
    for (const { value } of documents) {
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect((value as any).polluted).toBeUndefined();
      expect((value as any).a?.polluted).toBeUndefined();
      expect((value as any).b?.polluted).toBeUndefined();
    }
    expect(documents.length + diagnostics.length).toBeGreaterThan(0);
  });

  it('keeps a member called constructor', () => {
    const { documents, diagnostics } = parse('constructor: {prototype: {polluted: yes}}\n');
    expect(diagnostics).toEqual([]);
    expect(Object.keys(documents[0]?.value as object)).toEqual(['constructor']);
  });

  it('merges over a member that all objects seem to have', () => {
    const { documents } = parse('a: &a {toString: mine}\nb: {<<: *a}\n');
    expect(documents[0]?.value).toMatchObject({ b: { toString: 'mine' } });
  });
});
