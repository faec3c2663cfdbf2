import { expect, it } from 'vitest';
import { findCommands } from '../../../src/console/logic/find-commands.ts';

const found = (titles: readonly string[], typed: string): string[] =>
  findCommands(
    titles.map((title) => ({ title })),
    typed,
  ).map(({ title }) => title);

it('gives everything in its order while nothing is typed', () => {
  expect(found(['Usage', 'Agents'], ' ')).toEqual(['Usage', 'Agents']);
});

it('finds letters in their order, whatever their case, and nothing that lacks one', () => {
  expect(found(['Request log', 'Spend'], 'RQLG')).toEqual(['Request log']);
  expect(found(['Request log'], 'lgrq')).toEqual([]);
  expect(found(['Agents'], 'agentss')).toEqual([]);
});

it('puts the beginning of a word before its middle, and both before letters with gaps', () => {
  const titles = ['cast', 'a cab and', 'scab', 'my cabin'];
  expect(found(titles, 'cab')).toEqual(['a cab and', 'my cabin', 'scab']);
  expect(found(['c-a-b', 'xcab'], 'cab')).toEqual(['xcab', 'c-a-b']);
});

it('puts fewer letters in between before more', () => {
  expect(found(['a---b', 'a-b', 'a--b'], 'ab')).toEqual(['a-b', 'a--b', 'a---b']);
  // What stands before the first letter does not count.
  expect(found(['xxxxa-b', 'a--b'], 'ab')).toEqual(['xxxxa-b', 'a--b']);
});

it('leaves what fits alike in its order', () => {
  expect(found(['one ab', 'ab two'], 'ab')).toEqual(['one ab', 'ab two']);
});

it('looks at the command line, too, which counts for less than the title', () => {
  const items = [
    { title: 'Everything that was asked', cli: 'gateway logs' },
    { title: 'My logs', cli: 'gateway mine' },
    { title: 'l-o-gs' },
    { title: 'Keys', cli: 'gateway keys' },
  ];
  const titles = findCommands(items, 'logs').map(({ title }) => title);
  expect(titles).toEqual(['My logs', 'Everything that was asked', 'l-o-gs']);
});
