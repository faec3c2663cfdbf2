import { expect, it } from 'vitest';
import { countTokens } from '../../../src/protocols/generate-content/count-tokens.ts';
import { generateContent } from '../../../src/protocols/generate-content/generate-content.ts';
import { surfacesOf } from '../../../src/protocols/generate-content/surfaces.ts';

it.each(['', '/'])('reads a path that ends with %j', (end) => {
  const [surface] = surfacesOf(generateContent);
  const path = (method: string) => `/v1beta/models/acme/gem:${method}${end}`;
  expect(surface?.address?.(path('generateContent'), '')).toMatchObject({
    model: 'acme/gem',
    operation: 'generateContent',
  });
  expect(surface?.variant?.(path('countTokens'))?.protocol).toBe(countTokens);
  expect(surface?.variant?.(path('generateContent'))).toBeUndefined();
});
