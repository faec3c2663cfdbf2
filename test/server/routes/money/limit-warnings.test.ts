import { expect, it } from 'vitest';
import { createLimitWarnings } from '../../../../src/server/routes/money/limit-warnings.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../../../support/catalog.ts';
import { verifies } from '../../../requirements.ts';

it(
  verifies('limits.too-small', 'is a warning of the answer, by the models that are served now'),
  () => {
    const route = (output: number) => fakeRoute('a', { priority: 0, pricing: { output } });
    let catalog = fakeCatalog(fakeModel('acme/ha', [route(15_000)]));
    const config = { limits: { outputTokensBound: 1_000 } };
    const warningsOf = createLimitWarnings({ catalog: () => catalog, config });
    const key = { spending_limit: { day: '0.01' } };
    expect(warningsOf('keys', key)).toEqual([
      'spending_limit.day: 0.01 USD cannot pay for one call of acme/ha; without max_tokens it reserves 1000 output tokens, 0.015 USD, and is refused with nothing spent; raise the limit, let clients send max_tokens, or set max_output_tokens on the model',
    ]);
    expect(warningsOf('models', key)).toEqual([]);
    expect(warningsOf('keys', undefined)).toEqual([]);
    catalog = fakeCatalog(fakeModel('acme/ha', [route(1)]));
    expect(warningsOf('keys', key)).toEqual([]);
  },
);
