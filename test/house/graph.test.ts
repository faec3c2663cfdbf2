import { expect, it } from 'vitest';
import { arrowsUp, circlesOf, toGraph } from './graph.ts';

it('counts the fewest arrows whose removal leaves no circle', () => {
  // a → b → c → a, and d ⇄ c: without c → a and one of the pair nothing comes back.
  const edges: [string, string][] = [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
    ['c', 'd'],
    ['d', 'c'],
    ['e', 'a'],
  ];
  const graph = toGraph('abcde', edges);
  expect(circlesOf(graph)).toEqual([['a', 'b', 'c', 'd']]);
  expect(arrowsUp(graph)).toHaveLength(2);
  const without = edges.filter((edge) => !['ca', 'dc'].includes(edge.join('')));
  expect(arrowsUp(toGraph('abcde', without))).toEqual([]);
  expect(circlesOf(toGraph('abcde', without))).toEqual([]);
});
