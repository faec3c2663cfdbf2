import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../src/cli/output/render-plan.ts';
import { createStyle } from '../../../src/cli/output/style.ts';
import { compareSecrets } from '../../../src/config/actual/compare-secrets.ts';
import { driftOf } from '../../../src/config/plan/drift.ts';
import { leftOut } from '../../../src/config/plan/fixed.ts';
import { ownerFor } from '../../../src/config/plan/plan.ts';
import { resolveAllSecrets } from '../../../src/config/read/secrets.ts';
import { verifies } from '../../requirements.ts';
import { compared, planning } from './planned-on-fake.ts';

const ORGANIZATION = 'organizations: [{ name: default }]\n';
const KEYS = `${ORGANIZATION}keys:
  - { name: one, value: "\${secret:env:ONE}" }
  - { name: two, value: "\${secret:env:TWO}" }
`;
const budget = (amount: number, key: string) =>
  `budgets: [{ name: b, amount: "${amount}", per: day, match: { keys: [${key}] } }]\n`;

async function revoked() {
  const setUp = planning();
  await setUp.applied(KEYS + budget(1, 'two'));
  const two = (await setUp.server.list('key')).find(({ name }) => name === 'two')!;
  await setUp.server.update('key', two.id, { body: { enabled: false }, expectedVersion: 1 });
  return { ...setUp, id: two.id };
}

describe('a revoked key that the files declare', () => {
  it(
    verifies('apply.revoked-key', 'blocks itself and what names it, and the rest is applied'),
    async () => {
      const { planOf, applied, server } = await revoked();
      const text = `${KEYS.replace('name: one,', 'name: one, rpm_cap: 7,')}${budget(2, 'two')}`;
      const { plan } = await planOf(text);
      expect(plan.actions.filter(({ action }) => action !== 'none')).toMatchObject([
        { identity: 'default/one', action: 'update' },
      ]);
      expect(leftOut(plan)).toMatchObject([
        {
          identity: 'default/two',
          reason: expect.stringMatching(
            /^it was revoked at now, .*another name and another secret value, or remove this one/,
          ) as string,
        },
        { identity: 'default/b', reason: 'waits for key default/two' },
      ]);
      expect(renderPlan(plan, createStyle(false), { all: true })).not.toContain('revoked_at');
      const report = await applied(text);
      expect(report.applied.map(({ identity }) => identity)).toEqual(['default/one']);
      expect(report.blocked.map(({ identity }) => identity)).toEqual(['default/two', 'default/b']);
      expect(report.failed).toEqual([]);
      const [kept] = await server.list('budget');
      expect(kept?.['amount']).toBe('1.00');
    },
  );

  it(
    verifies('apply.revoked-key', 'is drift that no apply mends, with the next step'),
    async () => {
      const { planOf, id } = await revoked();
      const { plan, planned } = await planOf(KEYS);
      const entry = { kind: 'key' as const, identity: 'default/two', id, fields: null };
      const inventory = { id: 'i', version: 1, namespace: 'team', objects: [entry], managed: {} };
      const owner = ownerFor(planned);
      const drift = driftOf({ ...planned, plan, owner, inventories: [inventory] });
      expect(drift.drifted).toMatchObject([
        {
          identity: 'default/two',
          what: 'deleted',
          obstacle: { hint: expect.stringContaining('declare a new key') as string },
        },
      ]);
    },
  );

  it('asks for no other value where none is declared, and does not hold up a removal', async () => {
    const { planOf, applied } = await revoked();
    const text = `${ORGANIZATION}models: []\nkeys: [{ name: two }]\n`;
    const [two] = leftOut((await planOf(text)).plan);
    expect(two?.reason).toMatch(/another name, or remove/);
    const done = await applied(text, { mode: 'prune' });
    expect(done.applied).toMatchObject([{ identity: 'default/one', action: 'revoke' }]);
    expect(done.notRun).toEqual([]);
  });
});

describe('a declared value of a key', () => {
  const secrets = (name: string, fact: Partial<Parameters<typeof compared>[0]>) =>
    new Map([[`key/default/${name}#value`, compared(fact)]]);

  it(
    verifies('apply.secret-shown', 'is compared with that of the object that gets a new name'),
    async () => {
      const { applied, planOf, server } = planning();
      await applied(KEYS);
      const { id } = (await server.list('key')).find(({ name }) => name === 'two')!;
      const moved = 'moved: [{ kind: key, from: two, to: three }]\n';
      const { planned, sources } = await planOf(moved + KEYS.replace('name: two', 'name: three'));
      const { secrets: values } = await resolveAllSecrets(planned.desired, sources);
      const asked: (string | null)[] = [];
      await compareSecrets({
        ...planned,
        owner: ownerFor(planned),
        secrets: values,
        client: {
          async compareSecrets(all) {
            asked.push(...all.map((one) => one.id));
            return [];
          },
        },
      });
      expect(asked).toContain(id);
    },
  );

  it(
    verifies('apply.moved-offered', 'keeps the key that has it, and is offered as its new name'),
    async () => {
      const { applied, planOf, server } = planning();
      await applied(KEYS);
      const { id } = (await server.list('key')).find(({ name }) => name === 'two')!;
      const text = KEYS.replace('name: two', 'name: three');
      const held = { secrets: secrets('three', { holder: id, stored: null }) };
      const { plan } = await planOf(text, { ...held, mode: 'prune' });
      expect(plan.renames).toMatchObject([{ kind: 'key', from: 'two', to: 'three' }]);
      expect(plan.kept).toMatchObject([
        { identity: 'default/two', reason: 'its value is declared for key default/three' },
      ]);
      const done = await applied(text, { ...held, mode: 'prune' });
      expect(done.applied).toEqual([]);
      const two = (await server.list('key')).find(({ name }) => name === 'two');
      expect(two).toMatchObject({ enabled: true });
    },
  );

  it(
    verifies('apply.secret-shown', 'that another key has blocks the new key in the plan'),
    async () => {
      const { planOf, id } = await revoked();
      const text = `${KEYS}  - { name: three, value: "\${secret:env:TWO}" }\n`;
      const { plan } = await planOf(text, {
        secrets: secrets('three', { holder: id, stored: null }),
      });
      expect(plan.fixed.find(({ identity }) => identity === 'default/three')).toMatchObject({
        id: null,
        reason: 'its value is used already by key default/two, which was revoked',
        hint: expect.stringContaining('${secret:env:TWO}') as string,
      });
    },
  );

  it(
    verifies('apply.secret-shown', 'that differs is kept, with the command that writes it'),
    async () => {
      const { planOf, applied, server } = planning();
      await applied(KEYS);
      const { plan } = await planOf(KEYS, { secrets: secrets('one', {}) });
      const one = (await server.list('key')).find(({ name }) => name === 'one')!;
      expect(plan.summary.total).toBe(0);
      expect(plan.secrets).toEqual([
        {
          kind: 'key',
          identity: 'default/one',
          id: one.id,
          field: 'value',
          stored: 'aaaaaaaa',
          given: 'bbbbbbbb',
          command: `gateway keys rotate ${one.id} --value-env ONE`,
        },
      ]);
      const same = await planOf(KEYS, { secrets: secrets('one', { same: true }) });
      expect(same.plan).not.toHaveProperty('secrets');
    },
  );
});

describe('a declared value of another secret', () => {
  it(verifies('apply.secret-shown', 'that differs is written, shown by fingerprints'), async () => {
    const { planOf, applied, server } = planning();
    const text = 'providers: [{ name: up, type: openai, api_key: "${secret:env:API_KEY}" }]\n';
    await applied(text);
    const name = 'provider/up#api_key';
    const options = { secrets: new Map([[name, compared({})]]), writeSecrets: new Set([name]) };
    expect((await planOf(text, options)).plan.actions).toMatchObject([
      {
        action: 'update',
        reason: 'its secret has another value',
        changes: [{ path: 'api_key', secret: true, fingerprints: ['aaaaaaaa', 'bbbbbbbb'] }],
      },
    ]);
    await applied(text, options);
    expect(server.writes.at(-1)).toBe('update provider api_key,labels');
  });
});

describe('a field that never changes', () => {
  it('blocks its object alone', async () => {
    const { planOf, applied } = planning();
    const credential = (scope: string, weight: number) => `${ORGANIZATION}
agents: [{ name: bot, model: a/b }]
credentials:
  - { name: c, agent_id: bot, scope: ${scope}, scope_name: x, secret_key: y, value: "\${secret:env:ONE}" }
  - { name: d, agent_id: bot, scope: mcp, scope_name: x, secret_key: y, weight: ${weight}, value: "\${secret:env:TWO}" }
`;
    await applied(credential('mcp', 1));
    const { plan } = await planOf(credential('env', 2));
    expect(plan.fixed).toMatchObject([
      {
        identity: 'default/c',
        fields: ['scope'],
        reason: expect.stringContaining('scope') as string,
      },
    ]);
    expect(plan.actions.filter(({ action }) => action === 'update')).toMatchObject([
      { identity: 'default/d' },
    ]);
  });
});
