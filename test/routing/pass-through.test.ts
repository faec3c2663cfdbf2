import { describe, expect, it } from 'vitest';
import type { ListedModel } from '../../src/providers/listing/listed-model.ts';
import { NameRules } from '../../src/routing/name-rules.ts';
import { createPassThrough } from '../../src/routing/pass-through.ts';
import { accountRecord, DEFAULTS, MADE_S } from './records.ts';

function setUp(lists: Record<string, readonly ListedModel[]> = {}) {
  const open = [
    { ...accountRecord('acme'), models: ['gpt-*', 'o3'] },
    { ...accountRecord('other'), models: ['*'] },
  ];
  const providers = open.map(({ account, models }) => ({ name: account.name, patterns: models }));
  return createPassThrough({
    open,
    lists: new Map(
      Object.entries(lists).map(([id, models]) => [
        id,
        new Map(models.map((model) => [model.name, model])),
      ]),
    ),
    rules: new NameRules([], [...providers, { name: 'closed', patterns: ['*'] }]),
    defaults: DEFAULTS,
  });
}

describe('a model of a provider without declarations', () => {
  it('is made for a name that the provider serves, listed or not', () => {
    const { passThrough } = setUp({ prov_acme: [{ name: 'gpt-5', created: 7 }] });
    expect(passThrough('acme/gpt-5')).toMatchObject({ id: 'acme/gpt-5', created: 7 });
    expect(passThrough('acme/gpt-6')).toMatchObject({ id: 'acme/gpt-6', created: MADE_S });
    expect(passThrough('other/gpt-5')).toMatchObject({ vendor: 'other', created: MADE_S });
  });

  it.each(['acme/o4', 'nobody/gpt-5', 'closed/gpt-5', 'gpt-5'])('is not made for %s', (name) => {
    expect(setUp().passThrough(name)).toBeUndefined();
  });
});

it('the listed names are those that match, with their provider in front', () => {
  const { listed } = setUp({
    prov_other: [{ name: 'x' }],
    prov_acme: [{ name: 'gpt-5' }, { name: 'o4' }, { name: 'o3' }],
    prov_closed: [{ name: 'y' }],
  });
  expect([...listed()]).toEqual(['acme/gpt-5', 'acme/o3', 'other/x']);
});

it('nothing is listed before a list is there', () => {
  expect([...setUp().listed()]).toEqual([]);
});
