import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runCli } from '../run-cli.ts';

const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
};
const SECRET = 'canary-secret-7f3a-2210';

let gateway: TestGateway;
const ids: Record<string, string> = {};
beforeAll(async () => {
  gateway = await startGateway(CONFIG);
  const make = async (kind: string, body: object) => {
    const made = await gateway.admin('POST', `/admin/v1/${kind}`, body);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    ids[kind] = made.body.id;
  };
  await make('agents', { name: 'helper', model: 'acme/one' });
  await make('services', { name: 'Desk', agent_id: ids['agents'], protocols: ['rest', 'mcp'] });
  await make('credentials', {
    agent_id: ids['agents'],
    scope: 'mcp',
    scope_name: 'search',
    secret_key: 'authorization',
    value: SECRET,
  });
  const text = '---\nname: review\ndescription: Reviews code.\n---\nLook closely.\n';
  await make('skills', { files: { 'SKILL.md': text } });
});
afterAll(() => gateway.stop());

const run = (...argv: string[]) =>
  runCli(argv, { env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey } });
const shown = async (kind: string) =>
  (await gateway.admin('GET', `/admin/v1/${kind}/${ids[kind]}`)).body;

describe('resource commands', () => {
  it.each([
    ['agents', 'helper', /^helper +acme\/one +- +1 +- +agent_\S+$/m],
    ['services', 'Desk', /^Desk +- +active +rest, mcp +helper +ep_\S+$/m],
    [
      'credentials',
      'search:authorization',
      /^search:authorization +can…210 .* active +0 +sec_\S+$/m,
    ],
    ['skills', 'review', /^review +skillver_\S+ +\S+ +skill_\S+$/m],
  ])('%s list and get show the same, no secret', async (kind, name, row) => {
    const list = await run(kind, 'list', '--organization', 'default');
    expect(list.stdout).toMatch(row);
    expect((await run(kind, 'list', '-q')).stdout).toBe(`${name}\n`);
    const one = await run(kind, 'get', name, '-o', 'json');
    // The names of what it refers to stand beside the ids.
    const { organization_name, agent_name, ...data } = one.json().data;
    expect(data).toEqual(await shown(kind));
    expect(organization_name).toBe('default');
    const [first] = (await run(kind, 'list', '-o', 'json')).json().data;
    expect(first).toEqual({ organization_name, ...(agent_name && { agent_name }), ...data });
    expect(typeof agent_name).toBe(data.agent_id ? 'string' : 'undefined');
    expect((await run(kind, 'get', 'none')).code).toBe(1);
    expect((await run(kind, 'get', 'none', '--ignore-not-found')).code).toBe(0);
    expect(list.stdout + one.stdout).not.toContain(SECRET);
  });

  it.each(['services', 'credentials'])('%s disable and enable', async (kind) => {
    const id = ids[kind] ?? '';
    expect((await run(kind, 'disable', id)).stdout).toContain('is disabled');
    expect(await shown(kind)).toMatchObject({ status: 'disabled' });
    expect((await run(kind, 'enable', id)).stdout).toContain('is active');
    expect(await shown(kind)).toMatchObject({ status: 'active' });
  });

  it('knows a Service by its slug, and nothing by a name that several have', async () => {
    const body = { name: 'Twin', agent_id: ids['agents'], protocols: ['rest'] };
    for (const slug of ['first', 'second'])
      await gateway.admin('POST', '/admin/v1/services', { ...body, slug });
    expect((await run('services', 'get', 'second', '-o', 'json')).json().data.slug).toBe('second');
    const several = await run('services', 'delete', 'Twin', '--yes');
    expect(several.code).toBe(5);
    expect(several.stderr).toMatch(/ep_\S+, ep_/);
    for (const slug of ['first', 'second'])
      expect((await run('services', 'rm', slug, '--yes')).code).toBe(0);
  });

  it('asks before it deletes or archives', async () => {
    for (const [kind, verb] of [
      ['services', 'delete'],
      ['skills', 'delete'],
      ['agents', 'archive'],
    ] as const) {
      const id = ids[kind] ?? '';
      const refused = await run(kind, verb, id);
      expect(refused.code, kind).toBe(64);
      expect(refused.stderr).toContain('cannot be undone');
      expect((await shown(kind)).id).toBe(id);
      expect((await run(kind, verb, id, '--yes')).code, kind).toBe(0);
    }
    expect((await gateway.admin('GET', `/admin/v1/services/${ids['services']}`)).status).toBe(404);
    expect((await gateway.admin('GET', `/admin/v1/skills/${ids['skills']}`)).status).toBe(404);
    expect((await shown('agents')).archived_at).toEqual(expect.any(String));
    expect((await run('agents', 'list', '-q')).stdout).toBe('');
    expect((await run('agents', 'list', '-q', '--archived')).stdout).toBe('helper\n');
    // A name that no other has still leads to it.
    expect((await run('agents', 'get', 'helper')).stdout).toContain(ids['agents']);
  });
});
