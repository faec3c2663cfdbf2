import { expect, it } from 'vitest';
import { PROVIDERS } from '../../src/providers/registry.ts';

it('gives links to media only to the vendors that fetch them, as their documents say', () => {
  const fetching = [...PROVIDERS.values()].filter(({ fetchesMedia }) => fetchesMedia === true);
  expect(fetching.map(({ id }) => id).sort()).toEqual([
    'anthropic',
    'azure-openai',
    'fireworks',
    'groq',
    'mistral',
    'openai',
    'openrouter',
    'together',
    'xai',
  ]);
});
