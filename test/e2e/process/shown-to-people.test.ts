import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const TEAM = `version: 1
namespace: team
organizations:
  - { name: acme, spending_limit: { month: 50 }, labels: { tier: gold } }
providers:
  - { name: echo, type: mock, timeouts: { idle: 30 }, mock: { rules: [{ match: { text: hi }, reply: { text: hello } }] } }
models:
  - name: team/echo
    pricing: { input: 0.15, output: "0.60" }
    context_window: 128000
    routes: [{ provider: echo, weight: 2 }, { provider: echo, upstream_model: other, priority: 1 }]
  - { name: team/priced, routes: [{ provider: echo, pricing: { per_call: "0.25" } }] }
keys:
  - { name: ci, organization: default, spending_limit: { day: 5 }, labels: { tier: silver } }
agents:
  - name: helper
    model: team/echo
    system: "Two\\nlines"
    mcp_servers: [{ type: url, name: docs, url: "https://example.com/mcp" }]
    tools: [{ type: mcp_toolset, mcp_server_name: docs }]
    metadata: { team: a }
  - { name: plain, model: team/echo }
credentials:
  - name: docs token
    agent_id: "\${ref:agent.helper.id}"
    scope: mcp
    scope_name: docs
    secret_key: Authorization
    value: "\${secret:env:DOCS}"
services:
  - { name: desk, slug: desk, agent_id: "\${ref:agent.helper.id}", protocols: [mcp, rest], memory_config: { a: [1, { b: 2 }] } }
deployments:
  - name: nightly
    agent_id: "\${ref:agent.helper.id}"
    initial_events: [{ type: user.message, content: [{ type: text, text: go }] }]
    schedule: { type: cron, expression: "0 7 * * 1-5", timezone: Europe/Berlin }
`;

describe('what the command line shows of objects', () => {
  let gateway: TestGateway;
  let cwd: string;
  let session: string;
  let value: string;

  const cli = async (line: string, key = gateway.adminKey) => {
    const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: key, DOCS: 'secret-of-the-docs' };
    const run = await runCli(line.split(' '), { cwd, env });
    expect([run.code, run.stderr], line).toEqual([0, expect.not.stringContaining('error')]);
    return run.stdout;
  };
  const json = async (line: string) => JSON.parse(await cli(`${line} -o json`)).data;

  beforeAll(async () => {
    gateway = await startGateway();
    cwd = await emptyDirectory();
    await writeFile(join(cwd, 'team.yaml'), TEAM);
    await cli('apply -f team.yaml --yes');
    value = (await gateway.admin('POST', '/admin/v1/keys/ci/rotate')).body.value;
    expect((await gateway.chat('team/priced', { key: value })).status).toBe(200);
    const { body } = await gateway.call('POST', '/v1/sessions', {
      body: {
        agent: (await json('agents get plain')).id,
        title: 'Weekly look',
        budget: { type: 'limit', max_list_cost: { amount: '2500', currency: 'USD' } },
      },
    });
    session = body.id;
    for (const text of ['hi', 'again']) {
      const events = [{ type: 'user.message', content: [{ type: 'text', text }] }];
      await gateway.call('POST', `/v1/sessions/${session}/events`, { body: { events } });
      await eventually(async () => {
        const seen = (await gateway.call('GET', `/v1/sessions/${session}`)).body;
        return seen.status === 'idle' && seen.usage.output_tokens > 0;
      });
    }
    // The sums of a day are written a moment after the answer.
    await eventually(async () => (await json('keys get ci')).last_used_at);
  }, 60_000);
  afterAll(() => gateway.stop());

  it(
    verifies(
      'cli.details.human',
      'holds no JSON, names beside ids, spent of limit and last use, and no label of the gateway',
    ),
    async () => {
      const details = new Map<string, string>();
      for (const line of [
        'organizations get acme',
        'providers get echo',
        'models get team/echo',
        'keys get ci',
        'agents get helper',
        'credentials get sec',
        'services get desk',
        'deployments get nightly',
        `sessions get ${session}`,
      ]) {
        const named = line === 'credentials get sec' ? await credential() : line;
        const text = await cli(named);
        details.set(line, text);
        expect(text, line).not.toMatch(/[{}]|\[["{\d]|"|gateway\//);
        const complete = await json(named);
        for (const id of Object.values(complete).filter(isId)) expect(text, line).toContain(id);
      }
      const key = details.get('keys get ci') ?? '';
      const facts = await json('keys get ci');
      expect(key).toMatch(/^organization +default \(org_\w+\)$/m);
      expect(key).toMatch(/^spent +lifetime: 0\.25\n +month: 0\.25\n +day: 0\.25 of 5\.00$/m);
      expect(key).toMatch(new RegExp(`^last_used +${facts.last_used_at}$`, 'm'));
      expect(key).toMatch(/^labels +tier: silver\nmanaged_by +namespace team$/m);
      expect(key).toMatch(
        new RegExp(`^former_value +sk-.* works until ${facts.former_until}$`, 'm'),
      );
      expect(facts).toMatchObject({
        organization_name: 'default',
        spent: { lifetime: '0.25', month: '0.25', day: '0.25' },
        spending_limit: { day: '5.00' },
        labels: { tier: 'silver', 'gateway/namespace': 'team' },
        last_used_at: expect.stringMatching(/Z$/),
      });
      expect(details.get('organizations get acme')).toMatch(/month: 0\.00 of 50\.00/);
      expect(details.get('organizations get acme')).toMatch(/^last_used +never$/m);
      for (const kind of ['services get desk', 'credentials get sec', 'deployments get nightly'])
        expect(details.get(kind), kind).toMatch(/^agent +helper \(agent_\w+\)(, version 1)?$/m);
      expect(details.get(`sessions get ${session}`)).toMatch(
        /^agent +plain \(agent_\w+\), version 1$/m,
      );
      expect(details.get(`sessions get ${session}`)).toMatch(/^cost +0\.\d+ of 25\.00$/m);
    },
    60_000,
  );

  const isId = (one: unknown): one is string => /^(org|agent|ep|depl)_\w{10,}$/.test(String(one));
  const credential = async () => `credentials get ${(await json('credentials list'))[0].id}`;

  it(
    verifies(
      'cli.lists.columns',
      'lists Sessions with turns, cost and last activity, models with price, protocols and routes',
    ),
    async () => {
      const [shown] = await json('sessions list');
      expect(shown).toMatchObject({
        title: 'Weekly look',
        stats: { turns: 2 },
        usage: { cost: expect.stringMatching(/^0\.\d+$/) },
        updated_at: expect.stringMatching(/Z$/),
      });
      const [head, row] = (await cli('sessions list')).split('\n');
      expect(head).toMatch(/^TITLE +STATUS .*AGENT +TURNS +COST USD +LAST ACTIVITY +ID$/);
      const at = shown.updated_at.replace(/\.\d+Z$/, 'Z');
      const cells = `Weekly look +idle +(?:- +)*plain +2 +${shown.usage.cost} of 25.00 +${at}`;
      expect(row).toMatch(new RegExp(`^${cells} +${session}$`));

      const models = await json('models list');
      expect(models.map(({ id }: { id: string }) => id)).toEqual(['team/echo', 'team/priced']);
      expect(models[0]).toMatchObject({
        context_window: 128_000,
        pricing: { currency: 'USD', input: '0.15', output: '0.60' },
        protocols: expect.arrayContaining(['chat', 'messages', 'responses']),
        routes: [{ provider: 'echo' }, { provider: 'echo', upstream_model: 'other' }],
      });
      const lines = (await cli('models list')).split('\n');
      expect(lines[0]).toMatch(/^MODEL +TYPE +USD IN\/OUT PER 1M +CONTEXT +ROUTES$/);
      expect(lines[1]).toMatch(/^team\/echo +llm +0\.15\/0\.60 +128000 +echo, echo$/);
      expect(lines[2]).toMatch(/^team\/priced +llm +0\.25 a call +- +echo$/);
      const [, wide] = (await cli('models list -o wide')).split('\n');
      expect(wide).toMatch(/ 0\.15 in, 0\.60 out per million tokens .*chat, /);
    },
    60_000,
  );

  it('names no provider to a key without the scope admin, and goes on without names', async () => {
    const shown = await cli('models list', gateway.clientKey);
    expect(shown).toMatch(/^team\/echo .* 2$/m);
    expect(shown).not.toContain('echo, echo');
    const plain = await gateway.call('GET', '/v1/models?details=true');
    expect(JSON.stringify(plain.body)).not.toContain('upstream_model');
    const own = await cli(`sessions get ${session}`, gateway.clientKey);
    expect(own).toMatch(/^title +Weekly look$/m);
    const refused = await gateway.call('GET', '/admin/v1/spending?key=ci');
    expect(refused.status).toBe(403);
    for (const query of ['', '?key=ci&organization=acme'])
      expect((await gateway.admin('GET', `/admin/v1/spending${query}`)).status).toBe(400);
    expect((await gateway.admin('GET', '/admin/v1/spending?key=nobody')).status).toBe(404);
  });
});
