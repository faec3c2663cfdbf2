import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';

const HEAD = `version: 1
organizations: [{ name: blue }]
providers: [{ name: mock, type: mock, models: [gpt-*] }]
models: [{ name: acme/dear, routes: [{ provider: mock }] }]
aliases: [{ name: best, model: acme/dear }]
keys:
  - { name: ci, organization: blue }
  - { name: app }
budgets:
`;

async function judge(budget: string, head = HEAD): Promise<string> {
  const stdin = `${head}  - { name: one, amount: 1, per: day, ${budget} }\n`;
  const { config, diagnostics } = await loadConfig({ paths: ['-'], stdin, env: {}, cwd: '/' });
  const text = formatDiagnostics(diagnostics, 'text').replaceAll(/\n\s+hint: /g, '; ');
  return text === '' ? 'valid' : `${config ? 'served' : 'refused'}: ${text}`;
}

describe('a declared budget', () => {
  it.each([
    'match: { models: [acme/dear, acme/*, mock/gpt-5, "*"] }',
    'organization: blue, match: { keys: [ci, key_0123, corp/alice] }',
    'organization: "${ref:organization.blue.name}", match: { keys: [ci] }',
    // Names of ids are known to the server alone.
    'organization: org_0123, match: { keys: [ci] }',
    'match: { keys: [app], labels: { team: red } }',
    'on_exceed: { downgrade: best }',
    'on_exceed: { downgrade: mock/gpt-5 }',
  ])('is fine with %s', async (budget) => {
    expect(await judge(budget)).toBe('valid');
  });

  it('is warned of where it names models that nothing serves, or an alias', async () => {
    expect(await judge('match: { models: [acme/dear, acme/deer] }')).toMatch(
      /^served: .*budgets\[0\]\.match\.models\[1\].*no model is named acme\/deer.*counts no call.*did you mean acme\/dear/,
    );
    expect(await judge('match: { models: ["openai/*"] }')).toMatch(/^served: .*can match nothing/);
    expect(await judge('match: { models: [best] }')).toMatch(/^served: .*best is an alias/);
  });

  it('is warned of where it names keys that its organization does not declare', async () => {
    expect(await judge('organization: blue, match: { keys: [app] }')).toMatch(
      /^served: .*budgets\[0\]\.match\.keys\[0\].*no key of the organization is named app/,
    );
    expect(await judge('match: { keys: [ap] }')).toMatch(/did you mean app\?/);
  });

  it('is left to the server where the file declares no models and no keys', async () => {
    const head = 'version: 1\nbudgets:\n';
    expect(await judge('match: { models: [acme/deer], keys: [nobody] }', head)).toBe('valid');
  });

  it('answers by one model, not by a pattern', async () => {
    expect(await judge('on_exceed: { downgrade: "mock/*" }')).toMatch(
      /^refused: .*on_exceed.*expected one model, not a pattern/,
    );
    expect(await judge('on_exceed: { downgrade: acme/cheap }')).toMatch(
      /^refused: .*no model is named acme\/cheap/,
    );
  });
});
