import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { CONFIG_KINDS } from '../../../src/config/objects/kinds.ts';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const HEAD = '---\nname: review\ndescription: Reviews.\n---\n';
const MAIN = `${HEAD}Read $\${price} and \${x}.\n\n`;
const HOOK = 'https://hooks.slack.com/services/T000/B000/hook';
const SECRETS = { TOKEN: 'token-123', KEY: 'key-123', HOOK };
const CONFIG = {
  version: 1,
  namespace: 'shop',
  organizations: [{ name: 'acme', spending_limit: { day: 5 } }],
  providers: [
    { name: 'echo', type: 'mock', mock: { rules: [] } },
    { name: 'far', type: 'openai', api_key: '${secret:env:KEY}', models: ['gpt-*'] },
  ],
  models: [{ name: 'shop/echo', routes: [{ provider: 'echo' }], pricing: { input: '1.00' } }],
  aliases: { fast: 'shop/echo', 'gpt-*': { model: 'far/gpt-*', labels: { team: 'a' } } },
  budgets: [{ name: 'team', organization: 'acme', amount: '5.00', per: 'month' }],
  apis: [{ name: 'weather', base_url: 'https://weather.example' }],
  keys: [{ name: 'ci', organization: 'acme', scopes: ['inference'] }],
  skills: [
    {
      name: 'Review!',
      files: {
        'SKILL.md': MAIN.replaceAll('${', () => '$${'),
        'data/a.bin': { base64: 'AP+A' },
        'data/{b}.md': 'in braces',
        'bom.md': '\uFEFFmark',
        'carriage.md': 'a\r\nb\r',
        'empty.md': '',
      },
    },
    { name: 'review', organization: 'acme', files: { 'SKILL.md': `${HEAD}Another.` } },
  ],
  agents: [
    {
      name: 'helper',
      model: 'shop/echo',
      skills: [{ type: 'custom', skill_id: '${ref:skill.Review!.id}' }],
    },
  ],
  credentials: [
    {
      name: 'token',
      agent_id: '${ref:agent.helper.id}',
      scope: 'mcp',
      scope_name: 'docs',
      secret_key: 'TOKEN',
      value: '${secret:env:TOKEN}',
    },
  ],
  services: [
    { name: 'desk', slug: 'desk', agent_id: '${ref:agent.helper.id}', protocols: ['rest'] },
    {
      name: 'inline',
      protocols: ['acp'],
      runtime: {
        type: 'agent',
        model: 'shop/echo',
        skills: [{ type: 'custom', skill_id: '${ref:skill.Review!.id}' }],
      },
    },
  ],
  deployments: [
    {
      name: 'nightly',
      agent_id: '${ref:agent.helper.id}',
      agent_config: { system: 'Be brief.' },
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
      schedule: { type: 'cron', expression: '0 7 * * *', timezone: 'UTC' },
      notification_settings: { chat_webhook_url: '${secret:env:HOOK}' },
    },
  ],
};

async function start(): Promise<TestGateway> {
  const gateway = await startGateway();
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

describe('a dump', () => {
  it(
    verifies('cli.dump.round-trip', 'makes every object anew on an empty gateway, but for secrets'),
    async () => {
      const [first, cwd] = await Promise.all([start(), emptyDirectory()]);
      const at = (gateway: TestGateway, more: Record<string, string>) => ({
        cwd,
        env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey, ...more },
      });
      await writeFile(join(cwd, 'shop.yaml'), JSON.stringify(CONFIG));
      const made = await runCli(['apply', '-f', 'shop.yaml', '--yes'], at(first, SECRETS));
      expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);

      const { stdout: dumped, stderr } = await runCli(['dump'], at(first, {}));
      expect(stderr).toBe('');
      const tree = parse(dumped);
      for (const { collection } of CONFIG_KINDS) expect(tree[collection], collection).toBeTruthy();
      await writeFile(join(cwd, 'dump.yaml'), dumped);
      const split = await runCli(['dump', '--split', 'config'], at(first, {}));
      expect(split.stdout).toContain('wrote config/skills/review-/SKILL.md');
      const texts = await readFile(join(cwd, 'config/skills/review-/SKILL.md'), 'utf8');
      expect(texts).toBe(`${MAIN}\n`);

      // What the dump calls its secrets.
      const names = [...dumped.matchAll(/\$\{secret:env:(\w+)\}/g)].map(([, name]) => name!);
      expect(names).toHaveLength(3);
      const valueOf = (name: string) =>
        SECRETS[
          name.startsWith('CREDENTIAL') ? 'TOKEN' : name.startsWith('DEPLOYMENT') ? 'HOOK' : 'KEY'
        ];
      const env = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
      for (const from of ['dump.yaml', 'config']) {
        const again = await runCli(['plan', '-f', from, '--exit-code'], at(first, env));
        expect([from, again.code, again.stderr]).toEqual([from, 0, '']);
        const second = await start();
        const restored = await runCli(['apply', '-f', from, '--yes'], at(second, env));
        expect([from, restored.code], restored.stderr).toEqual([from, 0]);
        expect((await runCli(['dump'], at(second, {}))).stdout).toBe(dumped);
        const out = join(cwd, `out-${from}`);
        await mkdir(out);
        const unpacked = await runCli(['skills', 'get', 'Review!', '--out', out], at(second, {}));
        expect(unpacked.code).toBe(0);
        expect(await readFile(join(out, 'SKILL.md'), 'utf8')).toBe(MAIN);
        expect([...(await readFile(join(out, 'data/a.bin')))]).toEqual([0, 255, 128]);
        expect(await readFile(join(out, 'carriage.md'), 'utf8')).toBe('a\r\nb\r');
        expect((await readFile(join(out, 'bom.md'))).toString()).toBe('\uFEFFmark');
        await second.stop();
      }
    },
  );
});
