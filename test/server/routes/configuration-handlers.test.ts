import { describe, expect, it } from 'vitest';
import { configurationHandlers } from '../../../src/server/routes/configuration-handlers.ts';
import type {
  ConfigurationPlanView,
  SecretComparisonView,
} from '../../../src/server/routes/configuration-handlers.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { verifies } from '../../requirements.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { answerOf, keyring } from './handler-calls.ts';

interface File {
  readonly name: string;
  readonly text: string;
}

const text = (...lines: string[]): string => ['version: 1', 'namespace: team', ...lines].join('\n');
const owners = (...names: string[]): string =>
  text('organizations:', ...names.map((name) => `  - name: ${name}`));

function setUp(of: Partial<Principal> = { scopes: new Set(['admin']) }) {
  const { repository, hasher, call } = makeResources();
  const keys = { ...keyring(of), maxBodyBytes: 100_000 };
  const { planFiles, compareSecrets } = configurationHandlers({ ...keys, repository, hasher });
  const send = async (body: object) => {
    const answer = await answerOf(planFiles, { method: 'POST', body });
    expect(answer.status).toBe(200);
    return answer.body as ConfigurationPlanView;
  };
  const planned = async (files: readonly File[], rest: object = {}) => {
    const { plan, diagnostics } = await send({ files, ...rest });
    return { plan, diagnostics, actions: plan?.actions.map((one) => `${one.action} ${one.kind}`) };
  };
  return { call, send, planned, compareSecrets, inside: keys.inside };
}

describe('a plan for files', () => {
  it('says what they would change, and changes nothing', async () => {
    const { planned, call } = setUp();
    const { plan, diagnostics, actions } = await planned([
      { name: 'gateway.yaml', text: owners('acme', 'bolt') },
    ]);
    expect(actions).toEqual(['create organization', 'create organization']);
    expect(plan).toMatchObject({ namespace: 'team', mode: 'apply', target: null });
    expect(diagnostics).toEqual([]);
    expect((await call('GET organizations')).body['data']).toEqual([]);
  });

  it('reads several files as one configuration', async () => {
    const { planned } = setUp();
    const { plan } = await planned([
      { name: 'a.yaml', text: owners('acme') },
      { name: 'below/b.yaml', text: 'version: 1\norganizations:\n  - name: bolt\n' },
    ]);
    expect(plan?.summary).toMatchObject({ create: 2, total: 2 });
  });

  it('is none where a file is at fault, which is told with its place', async () => {
    const { send, inside } = setUp();
    const wrong = text('organizations:', '  - nome: acme');
    const view = await send({ files: [{ name: 'gateway.yaml', text: wrong }] });
    expect(view).toMatchObject({ type: 'configuration_plan', plan: null });
    expect(view.diagnostics).toContainEqual(
      expect.objectContaining({ file: 'gateway.yaml', severity: 'error', line: 4 }),
    );
    expect(inside).toEqual({ now: 0, ever: 1 });
  });

  it('compares with what is there, and takes it over only where that is asked for', async () => {
    const { planned, call } = setUp();
    await call('POST organizations', { body: { name: 'acme' } });
    const files = [{ name: 'gateway.yaml', text: owners('acme') }];
    expect((await planned(files)).actions).toEqual(['none organization']);
    expect((await planned(files, { adopt: true })).actions).toEqual(['update organization']);
  });

  it('removes what is declared no more, only where that is asked for', async () => {
    const { planned, call } = setUp();
    const labels = { 'gateway/namespace': 'team' };
    const { body } = await call('POST organizations', { body: { name: 'bolt', labels } });
    const files = [{ name: 'gateway.yaml', text: owners('acme') }];
    const applied = await planned(files);
    expect(applied.actions).toEqual(['create organization']);
    expect(applied.plan).toMatchObject({ mode: 'apply', prunable: [{ id: body['id'] }] });
    const pruned = await planned(files, { prune: true });
    expect(pruned.actions).toHaveLength(2);
    expect(pruned.plan).toMatchObject({ mode: 'prune', summary: { remove: 1 } });
  });

  it('knows from inventories what was declared before', async () => {
    const { planned, call } = setUp();
    const labels = { 'gateway/namespace': 'team' };
    const acme = { name: 'acme', display_name: 'Acme', labels };
    const { body } = await call('POST organizations', { body: acme });
    const files = [{ name: 'gateway.yaml', text: owners('acme') }];
    expect((await planned(files)).actions).toEqual(['none organization']);
    const fields = 'display_name name';
    const object = { kind: 'organization', identity: 'acme', id: body['id'], fields };
    const inventory = await call('POST inventories', { body: { name: 'team', objects: [object] } });
    expect(inventory.status).toBe(201);
    const { plan } = await planned(files);
    expect(plan?.actions[0]?.changes).toContainEqual(
      expect.objectContaining({ field: 'display_name', old: 'Acme', new: null }),
    );
  });

  it('knows no variable of the process', async () => {
    const { planned } = setUp();
    const wanted = text('organizations:', '  - name: ${env:PATH}');
    const { plan, diagnostics } = await planned([{ name: 'gateway.yaml', text: wanted }]);
    expect(plan).toBeNull();
    expect(diagnostics).toMatchObject([{ severity: 'error', line: 4 }]);
  });
});

describe('files of a plan', () => {
  it('lie in one folder', async () => {
    const { planned, send } = setUp();
    for (const name of ['../a.yaml', '/a.yaml', '/files-2/a.yaml', 'a/../..', '.', '/files'])
      await expect(send({ files: [{ name, text: owners('acme') }] }), name).rejects.toMatchObject({
        code: 'invalid_request',
        param: 'files',
        message: `files: ${name} leads out of the folder of the files`,
      });
    for (const name of ['a.yaml', 'below/../a.yaml', './a.yaml', '/files/a.yaml'])
      expect((await planned([{ name, text: owners('acme') }])).actions, name).toHaveLength(1);
  });

  it('may refer to each other, and to nothing else', async () => {
    const { planned } = setUp();
    const lines = (file: string) => ['  - name: acme', `    display_name: \${file:${file}}`];
    const asked = async (file: string) =>
      planned([
        { name: 'gateway.yaml', text: text('organizations:', ...lines(file)) },
        { name: 'name.yaml', text: '{version: 1}' },
      ]);
    const own = await asked('./name.yaml');
    expect(own.plan?.actions[0]?.changes).toContainEqual(
      expect.objectContaining({ field: 'display_name', new: '{version: 1}' }),
    );
    const other = await asked('./other.yaml');
    expect(other.plan).toBeNull();
    expect(other.diagnostics).toMatchObject([
      { severity: 'error', message: 'the file ./other.yaml cannot be read' },
    ]);
  });

  it.each([
    ['files', {}],
    ['files', { files: [] }],
    ['files', { files: Array.from({ length: 101 }, () => ({ name: 'a', text: '' })) }],
    ['files', { files: 'a' }],
    ['files[0].name', { files: [{ name: '', text: '' }] }],
    ['files[0].name', { files: [{ name: 'a'.repeat(257), text: '' }] }],
    ['files[0].text', { files: [{ name: 'a' }] }],
    ['prune', { files: [{ name: 'a', text: '' }], prune: 'yes' }],
    ['adopt', { files: [{ name: 'a', text: '' }], adopt: 1 }],
  ])('are refused at the member %s', async (param, body) => {
    const { send } = setUp();
    await expect(send(body)).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  it('may be a hundred, with names of 256 characters', async () => {
    const { planned } = setUp();
    const names = Array.from({ length: 100 }, (_, index) => `${index}.yaml`.padStart(256, 'a'));
    const { diagnostics, plan } = await planned(
      names.map((name, index) => ({ name, text: index === 0 ? owners('acme') : 'version: 1\n' })),
    );
    expect(diagnostics).toEqual([]);
    expect(plan?.summary.total).toBe(1);
  });
});

describe('planning', () => {
  it.each<[string, Partial<Principal>]>([
    ['without the scope admin', {}],
    ['with the role operator', { scopes: new Set(['admin']), role: 'operator' }],
  ])('is closed to keys %s', async (_, of) => {
    const { send } = setUp(of);
    await expect(send({ files: [] })).rejects.toMatchObject({ code: 'insufficient_scope' });
  });
});

describe('declared values of secrets', () => {
  const compare = async (of: Partial<Principal>, ...secrets: object[]) => {
    const { call, compareSecrets } = setUp(of);
    const made = async (collection: string, body: object) =>
      (await call(`POST ${collection}`, { body })).body['id'] as string;
    const up = await made('providers', { name: 'up', type: 'openai', api_key: 'sk-stored' });
    const asked = secrets.map((one) => ({ kind: 'provider', id: up, field: 'api_key', ...one }));
    return answerOf(compareSecrets, { method: 'POST', body: { secrets: asked } });
  };
  const ADMIN = { scopes: new Set(['admin' as const]) };

  it(
    verifies('apply.secret-shown', 'are compared in the gateway, and told apart by fingerprints'),
    async () => {
      const answer = await compare(
        ADMIN,
        { value: 'sk-stored' },
        { value: 'sk-other' },
        { id: null, value: 'x' },
      );
      const { data } = answer.body as SecretComparisonView;
      expect(data).toMatchObject([
        { same: true, holder: null },
        { same: false, stored: data[0]?.stored },
        { same: false, stored: null },
      ]);
      expect(data[0]?.given).toBe(data[0]?.stored);
      expect(data[1]?.given).toMatch(/^[\w-]{8}$/);
      expect(data[1]?.given).not.toBe(data[0]?.stored);
    },
  );

  it('are refused of fields that hold none, and for a role that may not write', async () => {
    const named = compare(ADMIN, { field: 'name', value: 'up' });
    await expect(named).rejects.toMatchObject({ status: 400, param: 'secrets[0].field' });
    const viewer = { ...ADMIN, role: 'viewer' as const };
    await expect(compare(viewer, { value: 'x' })).rejects.toMatchObject({ status: 403 });
  });
});
