import { describe, expect, it } from 'vitest';
import { unpricedWarning } from '../../../src/config/read/check-prices.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { shippedPrices } from '../../../src/usage/prices/live-prices.ts';

const PROVIDERS = `version: 1
providers:
  - { name: own, type: custom, base_url: "https://own.example/v1", auth: { type: none }, protocols: { chat: true } }
  - { name: openai, type: openai, api_key: "\${secret:env:KEY}" }
  - { name: local, type: ollama }
  - { name: off, type: custom, base_url: "https://off.example/v1", auth: { type: none }, protocols: { chat: true }, enabled: false }
`;

let loads = 0;

async function unpricedIn(text: string, head = PROVIDERS): Promise<string[]> {
  const prices = {
    now: Date.parse('2026-11-23T00:00:00Z'),
    load: () => (loads++, shippedPrices()),
  };
  const { config, diagnostics } = await loadConfig({
    paths: ['-'],
    stdin: head + text,
    cwd: '/',
    env: { KEY: 'k' },
    prices,
  });
  if (!config) throw new Error(formatDiagnostics(diagnostics, 'text'));
  expect(diagnostics).toEqual([]);
  const warnings = config.unpriced.map((one) =>
    unpricedWarning(one, config.server.limits.unpriced),
  );
  return formatDiagnostics(warnings, 'text').split('\n').filter(Boolean);
}

const HINT = '  hint: set pricing on the model or route, or pricing: free';

describe('declared routes without a known price', () => {
  it('are warned of one by one, each at its place', async () => {
    expect(
      await unpricedIn(`models:
  - name: acme/fast
    routes:
      - { provider: openai, upstream_model: gpt-5 }
      - { provider: openai, upstream_model: gpt-nobody-knows }
      - { provider: own }
apis:
  - name: weather
    base_url: https://weather.example
`),
    ).toEqual([
      'stdin:11:9: warning: models[0].routes[1]: unpriced: no price of the route acme/fast (openai) is known; calls under a spending limit do not use it',
      HINT,
      'stdin:12:9: warning: models[0].routes[2]: unpriced: no price of the route acme/fast (own) is known; calls under a spending limit do not use it',
      HINT,
      'stdin:14:5: warning: apis[0]: unpriced: no price of the API weather is known; calls under a spending limit do not use it',
      '  hint: set pricing on the API, or pricing: free',
    ]);
  });

  it('are those alone that nobody prices, and that serve', async () => {
    expect(
      await unpricedIn(`models:
  - { name: a/free, pricing: free, routes: [{ provider: own }] }
  - { name: a/said, routes: [{ provider: own, pricing: { input: "1" } }] }
  - { name: a/listed, routes: [{ provider: openai, upstream_model: gpt-5 }] }
  - { name: openai/gpt-5, routes: [{ provider: openai }] }
  - { name: a/local, routes: [{ provider: local }] }
  - { name: a/off, enabled: false, routes: [{ provider: own }] }
  - { name: a/route-off, routes: [{ provider: own, enabled: false }] }
  - { name: a/provider-off, routes: [{ provider: off }] }
apis:
  - { name: free, base_url: "https://weather.example", pricing: free }
  - { name: priced, base_url: "https://weather.example", pricing: { per_call: "0.1" } }
  - { name: off, base_url: "https://weather.example", enabled: false }
`),
    ).toEqual([]);
  });

  it('are said to escape limits where the operator allows it', async () => {
    const [told] = await unpricedIn(`server: { limits: { unpriced: allow } }
models: [{ name: a/b, routes: [{ provider: own }] }]
`);
    expect(told).toContain('spending limits do not hold for it');
  });

  it('need no price list where no route leads to a vendor', async () => {
    loads = 0;
    expect(await unpricedIn('models: [{ name: a/b, routes: [{ provider: own }] }]\n')).toHaveLength(
      2,
    );
    expect(loads).toBe(0);
  });

  it('are not judged where the file does not declare the provider', async () => {
    const model = 'version: 1\nmodels: [{ name: a/b, routes: [{ provider: elsewhere }] }]\n';
    expect(await unpricedIn(model, '')).toEqual([]);
  });
});
