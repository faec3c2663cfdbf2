import { describe, expect, it } from 'vitest';
import { BudgetList, budgetsOf } from '../../../src/resources/keys/budget-list.ts';
import type { Stored } from '../../../src/resources/store/stored.ts';

function budget(id: string, spec: Record<string, unknown> = {}, organization = 'org_1'): Stored {
  return {
    id,
    kind: 'budgets',
    organization,
    spec: {
      name: id,
      labels: {},
      enabled: true,
      match: {},
      amount: '5.00',
      per: 'month',
      timezone: 'UTC',
      on_exceed: 'refuse',
      alerts: [],
      ...spec,
    },
    sealed: {},
    state: {},
    version: 1,
    createdAt: '2026-11-21T10:00:00Z',
    updatedAt: '2026-11-21T10:00:00Z',
  };
}

const key = (name: string, labels: Record<string, string> = {}): Stored => ({
  ...budget(`key_${name}`),
  kind: 'keys',
  spec: { name, labels },
});

const idsIn = (list: BudgetList, organization: string) =>
  list.of(organization)?.map(({ stored }) => stored.id);

describe('the budgets of organizations', () => {
  it('are kept by their owner, each once, with its latest word', () => {
    const list = new BudgetList();
    expect(list.put('bud_1', budget('bud_1'))).toEqual(['org_1']);
    expect(list.put('bud_2', budget('bud_2'))).toEqual(['org_1']);
    expect(list.put('bud_3', budget('bud_3', {}, 'org_2'))).toEqual(['org_2']);
    list.put('bud_1', budget('bud_1', { amount: '7.00' }));
    expect(idsIn(list, 'org_1')).toEqual(['bud_2', 'bud_1']);
    expect(list.of('org_1')?.[1]?.budget).toMatchObject({ id: 'bud_1', amount: 7_000_000_000 });
    expect(idsIn(list, 'org_2')).toEqual(['bud_3']);
  });

  it('count only while they are enabled', () => {
    const list = new BudgetList();
    list.put('bud_1', budget('bud_1'));
    list.put('bud_2', budget('bud_2', { enabled: false }));
    expect(idsIn(list, 'org_1')).toEqual(['bud_1']);
    expect(list.put('bud_1', budget('bud_1', { enabled: false }))).toEqual(['org_1']);
    expect(list.of('org_1')).toBeUndefined();
  });

  it('are gone with the object, and with all of them', () => {
    const list = new BudgetList();
    list.put('bud_1', budget('bud_1'));
    list.put('bud_2', budget('bud_2'));
    expect(list.put('bud_1', undefined)).toEqual(['org_1']);
    expect(idsIn(list, 'org_1')).toEqual(['bud_2']);
    expect(list.put('bud_unknown', undefined)).toEqual([]);
    list.clear();
    expect(list.of('org_1')).toBeUndefined();
    expect(list.put('bud_2', undefined)).toEqual([]);
  });
});

describe('the budgets of a key', () => {
  const list = new BudgetList();
  list.put('bud_all', budget('bud_all'));
  list.put('bud_team', budget('bud_team', { match: { labels: { team: 'core' } } }));
  list.put('bud_ci', budget('bud_ci', { match: { keys: ['ci'] } }));
  const found = (of: Stored | undefined) => budgetsOf(list.of('org_1'), of)?.map(({ id }) => id);

  it('are those that fit it', () => {
    expect(found(key('web'))).toEqual(['bud_all']);
    expect(found(key('ci'))).toEqual(['bud_all', 'bud_ci']);
    expect(found(key('web', { team: 'core' }))).toEqual(['bud_all', 'bud_team']);
    expect(found(undefined)).toEqual(['bud_all']);
  });

  it('are none where none fits, or there is none', () => {
    const other = new BudgetList();
    other.put('bud_ci', budget('bud_ci', { match: { keys: ['ci'] } }));
    expect(budgetsOf(other.of('org_1'), key('web'))).toBeUndefined();
    expect(budgetsOf(other.of('org_1'), key('ci'))).toHaveLength(1);
    expect(budgetsOf(undefined, key('ci'))).toBeUndefined();
  });
});
