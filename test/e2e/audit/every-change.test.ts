import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../../src/core/kinds.ts';
import { SCOPES } from '../../../src/core/access.ts';
import { RESOURCES } from '../../../src/resources/registry.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Op } from '../../../src/store/store.ts';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { CANARIES, startApiWorld } from '../../security/support/api-world.ts';
import type { ApiWorld, Call, Member } from '../../security/support/api-world.ts';
import { makeBelongings, SKILL } from '../../security/support/belongings.ts';
import { useOf } from '../../security/support/route-uses.ts';
import { ownedBy, sampleCalls } from '../../security/support/sample-calls.ts';
import type { Named } from '../../security/support/sample-calls.ts';
import { adminEnv } from '../../support/binary.ts';
import { ask, eventually } from '../../support/gateway.ts';
import type { Answer } from '../../support/gateway.ts';
import { ownPage, signIn } from '../console/console-client.ts';

interface Entry {
  action: string;
  actor: { kind: string; id: string | null; name: string };
  from: { address: string | null; client: string | null };
  object: { kind: string; id: string; name: string | null };
  changes: { path: string; old: unknown; new: unknown }[];
  request_id: string | null;
}

const SECRET = 'sk-provider-0123456789abcdef';
/** Every commit of the gateway, and its text, in which requests are sought. */
const commits: { ops: readonly Op[]; text: string }[] = [];
let world: ApiWorld;
let member: Member;

beforeAll(async () => {
  world = await startApiWorld(
    { limits: { interaction_wait: '60s' }, log: { content: true } },
    {
      openStore: async (config, deps) => {
        const store = await openStore(config, deps);
        const commit = async (ops: readonly Op[]) => {
          const result = await store.commit(ops);
          if (result.ok) commits.push({ ops, text: JSON.stringify(ops) });
          return result;
        };
        return { ...store, commit };
      },
    },
  );
  member = await world.addMember('owner', { scopes: SCOPES });
});
afterAll(() => world.stop());

let sets = 0;
async function newNamed(): Promise<Named> {
  const outside = world.outside.url;
  return { ...(await makeBelongings(member, outside, `set-${++sets}`)), outside };
}

const entriesOf = async (query: string): Promise<Entry[]> =>
  (await world.gateway.admin('GET', `/admin/v1/audit?limit=1000&${query}`)).body.data;

/** Fails unless one commit wrote the change and its entry, and gives the entry. */
async function entryOf(what: string, answer: Answer): Promise<Entry> {
  expect(answer.status, `${what}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  const request = answer.headers.get('x-request-id');
  const found = await entriesOf(`request=${request}`);
  expect(found.length, `entries of ${what}`).toBe(1);
  const [entry] = found as [Entry];
  expect(entry.from.address, what).toMatch(/127\.0\.0\.1/);
  expect(entry.request_id, what).toBe(request);
  const isEntry = ({ key: [room] }: Op): boolean => room === 'audit' || room === 'audit-head';
  const written = commits.filter(({ text }) => text.includes(`"request_id":"${request}"`));
  expect(written.length, `commits of ${what}`).toBe(1);
  const others = written[0]?.ops.filter((op) => !isEntry(op)) ?? [];
  expect(JSON.stringify(others), `${what} in the commit of its entry`).toContain(entry.object.id);
  return entry;
}

/** Changes in place of samples that would change nothing. */
const CHANGES: Readonly<Record<string, object>> = {
  'POST /v1/agents/{id}': { description: 'First.' },
  'PATCH /v1/agents/{id}': { description: 'Second.' },
  'POST /v1/deployments/{id}': { name: 'first' },
  'PATCH /v1/deployments/{id}': { name: 'second' },
  'POST /v1/endpoints/{id}': { name: 'first' },
  'PATCH /v1/endpoints/{id}': { name: 'second' },
};

const free = ({ agent }: Named): Call[] => [
  { method: 'PATCH', path: `/v1/agents/${agent}`, body: { skills: [] } },
];
/** What must have happened before a change is possible. */
const BEFORE: Readonly<Record<string, (named: Named) => Call[]>> = {
  'POST /v1/deployments/{id}/unpause': ({ deployment }) => [
    { method: 'POST', path: `/v1/deployments/${deployment}/pause` },
  ],
  'DELETE /v1/skills/{id}': free,
  'DELETE /v1/skills/{id}/versions/{version}': ({ skill, ...named }) => [
    ...free({ skill, ...named }),
    {
      method: 'POST',
      path: `/v1/skills/${skill}/versions`,
      body: { files: { 'SKILL.md': `${SKILL}\nTwice.` } },
    },
  ],
};

/** Every kind as administrators make one, and what they change of it. */
function ofAdmins({ agent, outside }: Named): Record<string, { create: object; change: object }> {
  const text = { type: 'text', text: 'Go.' };
  const ofOwner = { organization: member.organization };
  return {
    organizations: { create: { name: 'new' }, change: { display_name: 'New' } },
    providers: {
      create: { name: 'new', type: 'openai', api_key: SECRET },
      change: { api_key: `${SECRET}2` },
    },
    models: {
      create: { name: 'new/one', routes: [{ provider: 'mock', pricing: 'free' }] },
      change: { description: 'New.' },
    },
    aliases: {
      create: { name: 'fresh', model: 'acme/text' },
      change: { model: 'acme/vectors' },
    },
    apis: { create: { name: 'new', base_url: outside }, change: { description: 'New.' } },
    keys: { create: { name: 'new', ...ofOwner }, change: { rpm_cap: 9 } },
    budgets: {
      create: { name: 'new', amount: '5', per: 'month', ...ofOwner },
      change: { amount: '6.00' },
    },
    files: { create: {}, change: {} },
    skills: {
      create: {
        name: 'new',
        files: { 'SKILL.md': '---\nname: new\ndescription: New.\n---\nRead.' },
        ...ofOwner,
      },
      change: { display_name: 'New' },
    },
    agents: {
      create: { name: 'new', model: 'acme/text', ...ofOwner },
      change: { description: 'New.' },
    },
    credentials: {
      create: {
        agent_id: agent,
        scope: 'mcp',
        scope_name: 'new',
        secret_key: 'TOKEN',
        value: CANARIES.credential,
        ...ofOwner,
      },
      change: { weight: 4 },
    },
    services: {
      create: { name: 'new', slug: 'new', agent_id: agent, protocols: ['rest'], ...ofOwner },
      change: { name: 'newer' },
    },
    deployments: {
      create: {
        name: 'new',
        agent_id: agent,
        initial_events: [{ type: 'user.message', content: [text] }],
        ...ofOwner,
      },
      change: { name: 'newer' },
    },
    inventories: { create: { name: 'new' }, change: {} },
  };
}

/** Bodies of actions that need one. */
const ACTIONS: Readonly<Record<string, object>> = {
  'credentials rotate': { value: CANARIES.credential },
};

function noSecret(entries: readonly Entry[], more: readonly string[] = []): void {
  const text = JSON.stringify(entries);
  for (const secret of [...Object.values(CANARIES), SECRET, ...more])
    expect(text.includes(secret), secret).toBe(false);
}

describe('the audit log', () => {
  it(
    verifies(
      'audit.every-change',
      'has one entry in the commit of every change that the document of the API describes',
    ),
    async () => {
      const kept = await newNamed();
      const changes = sampleCalls(world.document, kept).filter(({ operation, method }) => {
        const [, path = ''] = operation.split(' ');
        // A provider keeps Responses: the record of the request names who deleted one.
        if (path.startsWith('/v1/responses/')) return false;
        return ['write', 'govern'].includes(useOf({ method, path }));
      });
      const operations = [...new Set(changes.map(({ operation }) => operation))];
      expect(operations.length).toBeGreaterThan(30);
      const change = async (operation: string, named: Named): Promise<void> => {
        const all = sampleCalls(world.document, named);
        const [sample] = all.filter((one) => one.operation === operation);
        for (const before of BEFORE[operation]?.(named) ?? []) await member.made(before);
        const body = CHANGES[operation] ?? sample?.body;
        const call: Call = { ...sample!, ...(body !== undefined && { body }) };
        const entry = await entryOf(operation, await member.send(call));
        expect(entry.actor, operation).toMatchObject({ kind: 'key', name: 'owner-key' });
      };
      const ends = (operation: string) => /^DELETE |\/archive$/.test(operation);
      for (const operation of operations.filter((one) => !ends(one))) await change(operation, kept);
      // Agents are the first in the document, and the others need them.
      let named = await newNamed();
      const ended = new Set<string>();
      for (const operation of operations.filter(ends).reverse()) {
        const thing = ownedBy(operation.replace(/^\w+ /, '')) ?? operation;
        if (ended.has(thing)) {
          named = await newNamed();
          ended.clear();
        }
        ended.add(thing);
        await change(operation, named);
      }
      noSecret(await entriesOf(''));
    },
  );

  it(
    verifies('audit.every-change', 'has one entry in the commit of every change of administrators'),
    async () => {
      const table = ofAdmins(await newNamed());
      expect(Object.keys(table).sort()).toEqual(Object.keys(KINDS).sort());
      const values: string[] = [];
      for (const { collection, path, deletable, actions = {}, archivable } of RESOURCES) {
        const { create, change } = table[collection]!;
        // Both are made by what belongs to them: an upload, and an apply.
        if (collection === 'files' || collection === 'inventories') continue;
        const made = await world.gateway.admin('POST', path, create);
        const entry = await entryOf(`POST ${path}`, made);
        expect(entry, path).toMatchObject({ action: 'create', actor: { name: 'admin' } });
        const at = `${path}/${(made.body.data ?? made.body).id}`;
        values.push(...[made.body.value].filter((value) => typeof value === 'string'));
        const changed = await entryOf(
          `PATCH ${path}`,
          await world.gateway.admin('PATCH', at, change),
        );
        expect(changed.action, path).toBe('update');
        const [name, value] = Object.entries(change)[0]!;
        const shown = value === `${SECRET}2` ? '[secret]' : value;
        const told = changed.changes.find((one) => one.path === name);
        expect(told, `${path} ${JSON.stringify(changed.changes)}`).toMatchObject({ new: shown });
        const names = Object.keys(actions).sort(
          (a, b) => Number(a === 'revoke') - Number(b === 'revoke'),
        );
        for (const action of names) {
          const body = ACTIONS[`${collection} ${action}`] ?? {};
          const answer = await world.gateway.admin('POST', `${at}/${action}`, body);
          expect((await entryOf(`${action} ${path}`, answer)).action).toBe(action);
          values.push(...[answer.body.value].filter((one) => typeof one === 'string'));
        }
        if (archivable && !names.includes('archive'))
          await entryOf(`archive ${path}`, await world.gateway.admin('POST', `${at}/archive`, {}));
        if (deletable) await entryOf(`DELETE ${path}`, await world.gateway.admin('DELETE', at));
      }
      noSecret(await entriesOf(''), values);
    },
  );

  it(
    verifies(
      'audit.every-change',
      'has one entry for each change by the command line, a file and the console',
    ),
    async () => {
      const { gateway } = world;
      const env = adminEnv(gateway);
      const cwd = gateway.directory;
      const made = await runCli(['keys', 'create', 'by-command'], { cwd, env });
      expect(made.code, made.stderr).toBe(0);
      const [command, ...more] = await entriesOf('kind=api_key&object=by-command');
      expect(more).toEqual([]);
      expect(command).toMatchObject({ action: 'create', actor: { kind: 'key', name: 'admin' } });
      expect(command?.from.client).toMatch(/gateway/);
      expect(command?.request_id).toMatch(/^req_/);

      const file =
        'version: 1\nnamespace: filed\nbudgets: [{ name: by-file, amount: "3", per: month }]\n';
      await writeFile(join(cwd, 'more.yaml'), file);
      const applied = await runCli(['apply', '-f', 'more.yaml', '--yes'], { cwd, env });
      expect(applied.code, applied.stderr).toBe(0);
      expect(await entriesOf('kind=budget&object=by-file')).toHaveLength(1);
      const started = await entriesOf('kind=model&object=acme/text');
      expect(started).toHaveLength(1);
      expect(started[0]).toMatchObject({ action: 'create', actor: { kind: 'file' } });

      const client = await signIn(gateway, { key: gateway.adminKey });
      const changed = await client.call('PATCH', '/admin/v1/budgets/by-file', {
        body: { amount: '4' },
      });
      const entry = await entryOf('PATCH by the console', changed);
      expect(entry.changes).toEqual([{ path: 'amount', old: '3.00', new: '4.00' }]);
      noSecret(await entriesOf(''), [gateway.adminKey, made.stdout.trim()]);
    },
  );

  it(
    verifies(
      'audit.every-change',
      'has one entry for each sign-in and sign-out, and for refused ones as far as they are bounded',
    ),
    async () => {
      const { gateway } = world;
      const client = await signIn(gateway, { key: gateway.adminKey });
      const signedIn = await entryOf('the sign-in', client.signedIn);
      expect(signedIn).toMatchObject({
        action: 'sign_in',
        actor: { kind: 'key', name: 'admin' },
        object: { kind: 'console_session' },
        changes: [{ path: 'by', old: null, new: 'key' }],
      });
      const left = await entryOf('the sign-out', await client.call('DELETE', '/session'));
      expect(left).toMatchObject({ action: 'sign_out', object: { id: signedIn.object.id } });
      const { body } = await gateway.admin('POST', '/admin/v1/console/links');
      const byLink = await signIn(gateway, { link: body.link });
      expect((await entryOf('the sign-in by link', byLink.signedIn)).changes).toEqual([
        { path: 'by', old: null, new: 'link' },
      ]);
      const tries = 30;
      const statuses = new Set<number>();
      for (let n = 0; n < tries; n++)
        statuses.add(
          (
            await ask(`${gateway.url}/console/api/session`, {
              method: 'POST',
              body: { key: `sk-wrong-0123456789-${n}` },
              headers: ownPage(gateway.url),
            })
          ).status,
        );
      expect([...statuses]).toEqual([401]);
      const refused = await entriesOf('action=sign_in_refused');
      expect(refused.length).toBeGreaterThanOrEqual(20);
      // A minute may end meanwhile.
      expect(refused.length).toBeLessThanOrEqual(tries);
      expect(refused[0]).toMatchObject({
        actor: { kind: 'person', id: null },
        changes: [
          { path: 'by', old: null, new: 'key' },
          { path: 'reason', old: null, new: 'invalid_api_key' },
        ],
      });
      expect(JSON.stringify(refused)).not.toContain('sk-wrong');
    },
  );

  it(
    verifies(
      'audit.every-change',
      'has one entry for each read of kept content, and none for a role that is not shown it',
    ),
    async () => {
      const { gateway } = world;
      const chat = await gateway.chat('acme/text');
      const id = chat.headers.get('x-request-id');
      const path = `/admin/v1/requests/${id}`;
      const read = await eventually(async () => {
        const answer = await gateway.admin('GET', path);
        return answer.body.content !== undefined && answer;
      });
      const found = await entriesOf(`request=${read.headers.get('x-request-id')}`);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ action: 'read', object: { kind: 'request', id } });
      const page = await gateway.admin('GET', '/admin/v1/requests?limit=5');
      const of = await entriesOf(`request=${page.headers.get('x-request-id')}`);
      expect(of.every(({ action }) => action === 'read')).toBe(true);
      expect(of.length).toBeGreaterThan(0);
      const fields = { name: 'looker', scopes: ['admin'], role: 'viewer' };
      const { body: viewer } = await gateway.admin('POST', '/admin/v1/keys', fields);
      const key: string = viewer.value;
      for (const asked of [path, '/admin/v1/requests?limit=50']) {
        const answer = await gateway.call('GET', asked, { key });
        expect(answer.status).toBe(200);
        expect(JSON.stringify(answer.body)).not.toContain('"content":');
        expect(await entriesOf(`request=${answer.headers.get('x-request-id')}`)).toEqual([]);
      }
    },
  );
});
