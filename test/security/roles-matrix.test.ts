import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allows, ROLES, SCOPES, USES } from '../../src/core/access.ts';
import type { Role } from '../../src/core/access.ts';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import type { Answer } from '../support/gateway.ts';
import { startApiWorld } from './support/api-world.ts';
import type { ApiWorld, Member } from './support/api-world.ts';
import { makeBelongings, SHARED_NAME } from './support/belongings.ts';
import { targetsOf } from './support/route-targets.ts';
import { useOf } from './support/route-uses.ts';
import { LINKED, sampleCalls } from './support/sample-calls.ts';
import type { Named, Sample } from './support/sample-calls.ts';

/** The table of docs/teams.md: by use the roles that may. */
function tableOfDocs(): Map<string, Role[]> {
  const text = readFileSync(new URL('../../docs/teams.md', import.meta.url), 'utf8');
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const head = rows.find((cells) => ROLES.every((role) => cells.includes(`\`${role}\``)));
  const isUse = (cells: string[]): boolean => Object.values<string>(USES).includes(cells[1] ?? '');
  return new Map(
    rows.filter(isUse).map((cells) => {
      const may = ROLES.filter((role) => cells[head?.indexOf(`\`${role}\``) ?? -1] === 'yes');
      return [cells[1] ?? '', may];
    }),
  );
}

const isRefused = ({ status, body }: Answer): boolean =>
  status === 403 && JSON.stringify(body).includes('insufficient_scope');

/** What all roles may ask of somebody else's things: nothing is there. */
function isHidden(answer: Answer, secrets: readonly string[], asked: string): boolean {
  const shown = JSON.stringify(answer.body);
  return !secrets.some((secret) => !asked.includes(secret) && shown.includes(secret));
}

let world: ApiWorld;
let owner: Member;
let stranger: Member;
let theirs: Named;

beforeAll(async () => {
  world = await startApiWorld({ limits: { interaction_wait: '60s' } });
  owner = await world.addMember('owner');
  stranger = await world.addMember('stranger');
  theirs = { ...(await makeBelongings(owner, world.outside.url)), outside: world.outside.url };
});
afterAll(() => world.stop());

let keys = 0;
async function keyOf(member: Member, fields: object): Promise<string> {
  const { organization } = member;
  const asked = { name: `key-${++keys}`, organization, ...fields };
  const { status, body } = await world.gateway.admin('POST', '/admin/v1/keys', asked);
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject(fields);
  return body.value;
}

function send(key: string, call: Sample): Promise<Answer> {
  const headers = { ...call.headers, authorization: `Bearer ${key}` };
  return owner.send({ ...call, headers });
}

describe('roles', () => {
  it(
    verifies('roles.matrix', 'allow exactly what the table in docs says, on every route'),
    async () => {
      const table = tableOfDocs();
      expect([...table.keys()].sort()).toEqual(Object.values<string>(USES).sort());
      const targets = targetsOf(world.gateway, world.document).filter(
        ({ method }) => method !== 'HEAD',
      );
      expect(targets.length).toBeGreaterThan(200);
      const wrong: string[] = [];
      for (const role of ROLES) {
        const key = await keyOf(owner, { role, scopes: SCOPES });
        for (const { method, path } of targets) {
          const use = useOf({ method, path });
          const may = use === 'none' || table.get(USES[use])?.includes(role) === true;
          if (use !== 'none') expect(allows(role, use)).toBe(may);
          const body = /^(POST|PUT|PATCH)$/.test(method) ? {} : undefined;
          const answer = await send(key, { operation: '', method, path, body });
          if (isRefused(answer) !== may && answer.status !== 401) continue;
          wrong.push(`${role} ${method} ${path}: ${answer.status}`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  it(
    verifies(
      'roles.matrix',
      'reach what their own organization has and nothing of another, whatever they are',
    ),
    async () => {
      const asked = [undefined, ...ROLES].map(async (role) => ({
        role,
        own: await keyOf(owner, role ? { role } : {}),
        other: await keyOf(stranger, role ? { role } : {}),
      }));
      const members = await Promise.all(asked);
      const { secrets, before } = await ofOwner();
      const wrong: string[] = [];
      for (const [index, call] of sampleCalls(world.document, theirs).entries()) {
        const use = useOf({ method: call.method, path: call.operation.split(' ')[1] ?? '' });
        // The gate refuses the others whatever is named; of those that it lets in, each has its turn.
        const may = members.filter(({ role }) => use === 'none' || allows(role, use));
        const { role, own, other } = may[index % may.length]!;
        const what = `${role} ${call.operation}`;
        // Who may change it shall not do so here; a link says all that is asked.
        if (
          call.method === 'GET' &&
          use !== 'call' &&
          !/\/(interactions|responses)\/\{id\}/.test(call.operation)
        ) {
          const told = await send(own, call);
          if (told.status !== 200)
            wrong.push(`${what} of its own: ${told.status} ${JSON.stringify(told.body)}`);
        }
        if (call.operation.endsWith(LINKED)) continue;
        const foreign = await send(other, call);
        if (!isHidden(foreign, secrets, JSON.stringify(call)))
          wrong.push(`${what} of another: ${foreign.status} ${JSON.stringify(foreign.body)}`);
      }
      expect(wrong).toEqual([]);
      const { before: after } = await ofOwner();
      expect(after.filter((row) => !before.includes(row))).toEqual([]);
      expect(before.filter((row) => !after.includes(row))).toEqual([]);
    },
  );

  it(verifies('roles.matrix', 'are given by those alone who have them all'), async () => {
    for (const role of ['operator', 'billing', 'viewer'] as const) {
      const key = await keyOf(owner, { role, scopes: ['admin'] });
      for (const given of [...ROLES, null]) {
        const body = { name: `of-${role}`, role: given };
        const call = { operation: '', method: 'POST', path: '/admin/v1/keys', body };
        expect(isRefused(await send(key, call)), `${role} gives ${given}`).toBe(true);
      }
      const { body: found } = await world.gateway.admin('GET', '/admin/v1/keys?limit=1000');
      const [own] = found.data.filter((one: { role: string }) => one.role === role);
      const path = `/admin/v1/keys/${own.id}`;
      const change = { operation: '', method: 'PATCH', path, body: { role: 'admin' } };
      expect(isRefused(await send(key, change))).toBe(true);
      const rotate = { operation: '', method: 'POST', path: `${path}/rotate`, body: {} };
      expect(isRefused(await send(key, rotate))).toBe(true);
    }
    const key = await keyOf(owner, { role: 'admin', scopes: ['admin'] });
    for (const role of [...ROLES, null]) {
      const body = { name: `given-${role}`, role };
      const call = { operation: '', method: 'POST', path: '/admin/v1/keys', body };
      expect(await send(key, call)).toMatchObject({ status: 201, body: { role } });
    }
  });

  it(verifies('roles.matrix', 'leave what bounds money to who may give keys'), async () => {
    const budget = { name: 'bounding', organization: owner.organization, amount: '1', per: 'day' };
    const made = await world.gateway.admin('POST', '/admin/v1/budgets', budget);
    expect(made.status).toBe(201);
    const path = `/admin/v1/budgets/${made.body.id}`;
    const lifted = { operation: '', method: 'PATCH', path, body: { amount: '1000' } };
    const removed = { operation: '', method: 'DELETE', path, body: undefined };
    for (const role of ['operator', 'billing', 'viewer'] as const) {
      const key = await keyOf(owner, { role, scopes: ['admin'] });
      for (const call of [lifted, removed])
        expect(isRefused(await send(key, call)), `${role} ${call.method}`).toBe(true);
    }
    const key = await keyOf(owner, { role: 'admin', scopes: ['admin'] });
    expect(await send(key, lifted)).toMatchObject({ status: 200 });
    expect(await send(key, removed)).toMatchObject({ status: 200 });
  });

  it('change with the key, and are told to whoever asks who it is', async () => {
    const value = await keyOf(owner, { role: 'viewer' });
    const whoami: Sample = { operation: '', method: 'GET', path: '/v1/account/key' };
    const { body: viewer } = await send(value, whoami);
    expect(viewer.role).toBe('viewer');
    const body = { model: 'acme/text', messages: [{ role: 'user', content: 'hello' }] };
    const chat: Sample = { operation: '', method: 'POST', path: '/v1/chat/completions', body };
    expect(isRefused(await send(value, chat))).toBe(true);
    await world.gateway.admin('PATCH', `/admin/v1/keys/${viewer.id}`, { role: 'operator' });
    expect((await send(value, chat)).status).toBe(200);
    await world.gateway.admin('PATCH', `/admin/v1/keys/${viewer.id}`, { role: null });
    expect((await send(value, whoami)).body.role).toBe(null);
    const wrong = await world.gateway.admin('PATCH', `/admin/v1/keys/${viewer.id}`, {
      role: 'owner',
    });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error.message).toMatch(/role.*admin.*operator.*billing.*viewer/);
  });
});

/** Everything of the owner that nobody else may see, and what the store holds of it. */
async function ofOwner(): Promise<{ secrets: string[]; before: string[] }> {
  const { outside: _outside, ...ids } = theirs;
  const secrets = Object.values(ids).filter((id) => id !== SHARED_NAME);
  const rows = await eventually(async () => {
    const all = await world.gateway.gateway!.store.list({ prefix: [], limit: 10_000 });
    const texts = all.map((row) => JSON.stringify(row));
    const own = texts.filter((row) => row.includes(owner.organization));
    return !own.some((row) => row.startsWith('{"key":["job"')) && own;
  });
  const isAsked = (row: string): boolean => secrets.some((id) => row.includes(id));
  // Records of what its own keys were refused.
  const isRecord = (row: string): boolean => row.startsWith('{"key":["req",');
  return { secrets, before: rows.filter((row) => isAsked(row) && !isRecord(row)) };
}
