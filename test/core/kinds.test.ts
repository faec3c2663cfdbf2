import { describe, expect, it } from 'vitest';
import { collectionOf, factsOf, KINDS, kindsWhere, type Collection } from '../../src/core/kinds.ts';
import { definitionOf } from '../../src/resources/registry.ts';

describe('the list of kinds', () => {
  it.each(kindsWhere(() => true))('tells of %s what its definition tells', (collection) => {
    const facts = factsOf(collection);
    const definition = definitionOf(collection);
    expect(definition.collection).toBe(collection);
    if (facts.verbs.includes('delete')) expect(definition.deletable).toBe(true);
    if (facts.verbs.includes('archive')) expect(definition.archivable).toBe(true);
    const actions = Object.keys(definition.actions ?? {});
    for (const verb of ['archive', 'pause', 'unpause', 'revoke'] as const)
      if (facts.verbs.includes(verb)) expect(actions).toContain(verb);
    if (facts.switch !== undefined && facts.type !== 'api_key')
      expect(Object.keys(definition.fields.shape)).toContain(facts.switch);
    for (const verb of ['enable', 'disable'] as const)
      if (facts.verbs.includes(verb)) expect(facts.switch).toBeDefined();
  });

  it('finds a kind by the word for one of it, and each word is of one kind', () => {
    const names = Object.values(KINDS).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const [collection, { name }] of Object.entries(KINDS))
      expect(collectionOf(name)).toBe(collection as Collection);
    expect(() => collectionOf('planet' as 'model')).toThrow('no kind planet');
  });
});
