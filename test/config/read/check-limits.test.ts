import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import type { PriceList } from '../../../src/usage/prices/price-list.ts';
import { verifies } from '../../requirements.ts';
import { memoryFiles } from '../memory-files.ts';

const MODELS = `version: 1
providers:
  - { name: mock, type: mock }
  - { name: openai, type: openai, api_key: '\${secret:env:KEY}' }
models:
  - name: acme/ha
    routes: [{ provider: mock, pricing: { input: 3, output: 15 } }]
  - name: acme/gpt
    routes: [{ provider: openai, upstream_model: gpt }]
`;

async function warnings(yaml: string, usual = 16_384) {
  let loads = 0;
  const list: PriceList = {
    find: (type, name) =>
      type === 'openai' && name === 'gpt'
        ? { pricing: { output: 60_000 }, contextWindow: undefined, description: undefined }
        : undefined,
  };
  const load = async () => (loads++, list);
  const text = `${MODELS}${yaml}server: { limits: { output_tokens_bound: ${usual} } }\n`;
  const { diagnostics, config } = await loadConfig({
    paths: ['gateway.yaml'],
    cwd: '/',
    env: { KEY: 'k' },
    files: memoryFiles({ '/gateway.yaml': text }),
    limits: { now: 0, load },
  });
  expect(config, JSON.stringify(diagnostics)).toBeDefined();
  return { diagnostics, loads };
}

const KEY = "{ name: small, spending_limit: { day: '0.20' }, allowed_models: [acme/ha] }";

it(
  verifies('limits.too-small', 'is a warning of files, with its place and the next step'),
  async () => {
    const { diagnostics } = await warnings(`keys:\n  - ${KEY}\n`);
    expect(diagnostics).toEqual([
      {
        file: 'gateway.yaml',
        line: 11,
        column: expect.any(Number) as number,
        path: 'keys[0].spending_limit.day',
        severity: 'warning',
        message:
          '0.20 USD cannot pay for one call of acme/ha; without max_tokens it reserves 16384 output tokens, 0.24576 USD, and is refused with nothing spent',
        hint: 'raise the limit, let clients send max_tokens, or set max_output_tokens on the model',
      },
    ]);
  },
);

it('goes by published prices, and by the bound of the settings', async () => {
  const budgets = "budgets:\n  - { name: b, amount: '0.50', per: month }\n";
  const { diagnostics } = await warnings(budgets);
  expect(diagnostics.map(({ path, message }) => [path, message.split(';')[0]])).toEqual([
    ['budgets[0].amount', '0.50 USD cannot pay for one call of acme/gpt'],
  ]);
  expect((await warnings(budgets, 100)).diagnostics).toEqual([]);
});

it('asks for no price where no amount can refuse', async () => {
  const { diagnostics, loads } = await warnings(
    "keys:\n  - { name: free }\nbudgets:\n  - { name: b, amount: '0.01', per: day, on_exceed: warn }\n",
  );
  expect([diagnostics, loads]).toEqual([[], 0]);
});
