import { describe, expect, it } from 'vitest';
import { NameRules } from '../../src/routing/name-rules.ts';

const rulesOf = (
  aliases: Record<string, string>,
  providers: Record<string, readonly string[]> = {},
): NameRules =>
  new NameRules(
    Object.entries(aliases).map(([name, model]) => ({ name, model })),
    Object.entries(providers).map(([name, patterns]) => ({ name, patterns })),
  );

const nothing = (): boolean => false;

describe('the rules of names', () => {
  it('tell the aliases without * and the providers', () => {
    const rules = rulesOf({ fast: 'acme/fast', 'gpt-*': 'openai/gpt-*' }, { b: ['*'], a: [] });
    expect([...rules.plainAliases]).toEqual([{ name: 'fast', model: 'acme/fast' }]);
    expect([...rules.openProviders]).toEqual(['b', 'a']);
  });
});

describe('an alias', () => {
  it('without * stands before one that has it', () => {
    const rules = rulesOf({ 'gpt-*': 'a', 'gpt-5': 'b' });
    expect(rules.aliasOf('gpt-5')).toEqual({ alias: 'gpt-5', gives: 'b' });
    expect(rules.aliasOf('gpt-4')).toEqual({ alias: 'gpt-*', gives: 'a' });
    expect(rules.aliasOf('o3')).toBeUndefined();
  });

  it('repeats the text of its * once, as it is', () => {
    const rules = rulesOf({ 'x-*': 'acme/*-*' });
    expect(rules.aliasOf('x-$&')?.gives).toBe('acme/$&-*');
    expect(rules.aliasOf('x-')?.gives).toBe('acme/-*');
  });

  it('with the most text beside its * is taken, whichever was made first', () => {
    const aliases = { 'gpt-*': 'short', 'gpt-5-*': 'long' };
    const reversed = { 'gpt-5-*': 'long', 'gpt-*': 'short' };
    expect(rulesOf(aliases).aliasOf('gpt-5-mini')?.gives).toBe('long');
    expect(rulesOf(reversed).aliasOf('gpt-5-mini')?.gives).toBe('long');
  });

  it('with more text before its * is taken of two that have as much', () => {
    expect(rulesOf({ 'a*bc': 'less', 'ab*c': 'more' }).aliasOf('abxbc')?.gives).toBe('more');
    expect(rulesOf({ 'ab*c': 'more', 'a*bc': 'less' }).aliasOf('abxbc')?.gives).toBe('more');
  });

  it('leaves alone a name that no provider and model could have', () => {
    const rules = rulesOf({ '*': 'any', ['y'.repeat(600)]: 'known' });
    expect(rules.aliasOf('x'.repeat(513))?.gives).toBe('any');
    expect(rules.aliasOf('x'.repeat(514))).toBeUndefined();
    expect(rules.aliasOf('y'.repeat(600))?.gives).toBe('known');
  });
});

describe('a provider without declarations', () => {
  it('is told with its own name of the model and the pattern that matched', () => {
    const rules = rulesOf({}, { acme: ['gpt-*', '*'] });
    expect(rules.passedBy('acme/o3')).toEqual({ provider: 'acme', upstream: 'o3', pattern: '*' });
    expect(rules.passedBy('acme/gpt-5')?.pattern).toBe('gpt-*');
    expect(rules.passedBy('other/o3')).toBeUndefined();
    expect(rules.passedBy('o3')).toBeUndefined();
    expect(rules.passedBy('/o3')).toBeUndefined();
  });

  it('is looked for by the longest name first, then by shorter ones', () => {
    const rules = rulesOf({}, { a: ['*'], 'a/b': ['x'] });
    expect(rules.passedBy('a/b/x')).toMatchObject({ provider: 'a/b', upstream: 'x' });
    expect(rules.passedBy('a/b/y')).toMatchObject({ provider: 'a', upstream: 'b/y' });
    expect(rules.passedBy('a/b/c/d')).toMatchObject({ provider: 'a', upstream: 'b/c/d' });
  });

  it('is found although its name is one character long, and not where it is empty', () => {
    expect(rulesOf({}, { a: ['*'] }).passedBy('a/x')?.provider).toBe('a');
    expect(rulesOf({}, { '': ['*'] }).passedBy('/x')).toBeUndefined();
  });

  it.each([
    ['x'.repeat(256), true],
    ['x'.repeat(257), false],
    ['', false],
    ['a b', false],
    ['a?b', false],
    ['a#b', false],
    ['a%b', false],
    ['a\u0000b', false],
    ['a:b/c', true],
    ['\u{1f600}'.repeat(200), true],
  ])('serves the name %j: %s', (upstream, isServed) => {
    expect(rulesOf({}, { acme: ['*'] }).passedBy(`acme/${upstream}`) !== undefined).toBe(isServed);
  });

  it('is not asked for a name that is too long in all', () => {
    const provider = (length: number) => 'p'.repeat(length);
    const rules = rulesOf({}, { [provider(256)]: ['*'], [provider(257)]: ['*'] });
    const upstream = 'x'.repeat(256);
    expect(rules.passedBy(`${provider(256)}/${upstream}`)).toBeDefined();
    expect(rules.passedBy(`${provider(257)}/${upstream}`)).toBeUndefined();
  });
});

describe('the steps from a name to its model', () => {
  it('are one for a declared model, also where an alias has the name', () => {
    const rules = rulesOf({ fast: 'acme/other' }, { acme: ['*'] });
    const steps = rules.stepsTo('fast', (name) => name === 'fast');
    expect(steps).toEqual([{ rule: 'model', by: 'fast', gives: 'fast' }]);
  });

  it('are the alias and what it gives', () => {
    const rules = rulesOf({ fast: 'acme/fast' }, { acme: ['f*'] });
    const alias = { rule: 'alias', by: 'fast', gives: 'acme/fast' };
    expect(rules.stepsTo('fast', (name) => name === 'acme/fast')).toEqual([
      alias,
      { rule: 'model', by: 'acme/fast', gives: 'acme/fast' },
    ]);
    expect(rules.stepsTo('fast', nothing)).toEqual([
      alias,
      { rule: 'provider', by: 'acme', pattern: 'f*', gives: 'acme/fast' },
    ]);
  });

  it('end with the alias where nothing serves what it gives', () => {
    const rules = rulesOf({ fast: 'gone', gone: 'acme/fast' }, { acme: ['*'] });
    expect(rules.stepsTo('fast', nothing)).toEqual([{ rule: 'alias', by: 'fast', gives: 'gone' }]);
  });

  it('are those of an alias before those of a provider', () => {
    const rules = rulesOf({ 'acme/a': 'acme/b' }, { acme: ['*'] });
    expect(rules.stepsTo('acme/a', nothing).map(({ gives }) => gives)).toEqual([
      'acme/b',
      'acme/b',
    ]);
    expect(rules.stepsTo('acme/c', nothing)).toEqual([
      { rule: 'provider', by: 'acme', pattern: '*', gives: 'acme/c' },
    ]);
  });

  it('are none for a name that no rule knows', () => {
    expect(rulesOf({}, {}).stepsTo('x', nothing)).toEqual([]);
  });
});
