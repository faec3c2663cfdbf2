import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';

/** One of every kind, told apart from another namespace's by TEAM. */
const FILE = `version: 1
namespace: TEAM
organizations: [{ name: TEAM-org }]
providers: [{ name: TEAM-echo, type: mock }]
apis: [{ name: TEAM-weather, base_url: "https://weather.example" }]
models: [{ name: TEAM/one, routes: [{ provider: TEAM-echo }], lifecycle: { protected: true } }]
keys: [{ name: TEAM-ci, organization: TEAM-org, rpm_cap: 5 }]
skills: [{ name: TEAM-review, files: { SKILL.md: "---\\nname: review\\ndescription: R.\\n---\\nRead $\${x}." } }]
agents:
  - { name: TEAM-clerk, model: TEAM/one, skills: [{ type: custom, skill_id: "\${ref:skill.TEAM-review.id}" }] }
credentials:
  - { name: TEAM-token, agent_id: "\${ref:agent.TEAM-clerk.id}", scope: mcp, scope_name: docs, secret_key: T, value: "\${secret:env:TOKEN}" }
services: [{ name: TEAM-desk, slug: TEAM-desk, agent_id: "\${ref:agent.TEAM-clerk.id}", protocols: [rest] }]
deployments:
  - name: TEAM-report
    agent_id: "\${ref:agent.TEAM-clerk.id}"
    initial_events: [{ type: user.message, content: [{ type: text, text: Go. }] }]
    schedule: { type: cron, expression: "0 9 * * *", timezone: UTC }
    paused: true
`;
const SECTIONS =
  'agents apis credentials deployments keys models organizations providers services skills'.split(
    ' ',
  );

it(
  verifies(
    'cli.dump.all-namespaces',
    'a dump of all namespaces gives each a directory that changes nothing, and leaves the rest out',
  ),
  async () => {
    const [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
    onTestFinished(async () => void (await gateway.stop()));
    const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey, TOKEN: 't-123' };
    const cli = (...argv: string[]) => runCli(argv, { cwd, env });
    for (const team of ['blue', 'red']) {
      await writeFile(join(cwd, `${team}.yaml`), FILE.replaceAll('TEAM', team));
      const done = await cli('apply', '-f', `${team}.yaml`, '--yes');
      expect(done.code, done.stderr).toBe(0);
    }
    await gateway.admin('POST', '/admin/v1/providers', { name: 'free', type: 'mock' });
    // Names do not keep Agents apart; the one that is meant is pinned by its id.
    await gateway.admin('POST', '/admin/v1/agents', {
      name: 'red-clerk',
      organization: 'default',
      model: 'red/one',
    });

    const dumped = await cli('dump', '-A', '--split', 'all');
    expect(dumped.code, dumped.stderr).toBe(0);
    for (const team of ['blue', 'red']) {
      const files = await readdir(join(cwd, 'all', team));
      expect(files.filter((file) => file.endsWith('.yaml')).sort()).toEqual(
        SECTIONS.map((section) => `${section}.yaml`),
      );
      const plan = await cli('plan', '-f', `all/${team}`, '--prune', '-o', 'json');
      expect([plan.code, plan.stderr]).toEqual([0, '']);
      const { namespace, summary, prunable } = plan.json().data;
      expect({ namespace, summary, prunable }).toMatchObject({
        namespace: team,
        summary: { total: 0, none: SECTIONS.length },
        prunable: [],
      });
    }
    expect(await readdir(join(cwd, 'all'))).toEqual(['blue', 'red']);
    expect(dumped.stdout).not.toContain('free');

    const again = await cli('dump', '-A', '--split', 'all');
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('blue/')]);
    const whole = await cli('dump', '-A');
    expect([whole.code, whole.stderr]).toEqual([64, expect.stringContaining('--split')]);
    const several = await cli('dump');
    expect([several.code, several.stderr]).toEqual([
      5,
      expect.stringContaining('--all-namespaces'),
    ]);
  },
);
