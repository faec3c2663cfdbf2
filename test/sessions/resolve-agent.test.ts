import { beforeEach, describe, expect, it } from 'vitest';
import { resolveAgent } from '../../src/sessions/resolve-agent.ts';
import { makeResources } from '../resources/make-resources.ts';
import type { Resources } from '../resources/make-resources.ts';
import { verifies } from '../requirements.ts';

let resources: Resources;
let home: string;
let agentId: string;

beforeEach(async () => {
  resources = makeResources();
  home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
  const body = { name: 'Coder', model: 'acme/fast', system: 'one', description: 'Codes.' };
  agentId = (await call('POST agents', body)).body['id'];
});

const call = (request: string, body?: unknown) =>
  resources.call(request, { body, organization: home, platform: false });

describe('what a Session runs', () => {
  it('is the Agent as it is now, or as it was at a version', async () => {
    await call(`PATCH agents/${agentId}`, { system: 'two' });
    const latest = await resolveAgent(resources.repository, home, { agentId });
    expect(latest).toEqual({
      id: agentId,
      version: 2,
      name: 'Coder',
      description: 'Codes.',
      model: { id: 'acme/fast' },
      system: 'two',
      tools: [],
      mcp_servers: [],
      skills: [],
      harness: null,
    });
    const first = await resolveAgent(resources.repository, home, { agentId, version: 1 });
    expect(first).toEqual({ ...latest, version: 1, system: 'one' });
  });

  it(verifies('agents.archive', 'is never an unknown, foreign or archived one'), async () => {
    const { repository } = resources;
    const status = (error: unknown) => expect.objectContaining({ status: error });
    const find = (organization: string, id: string, version?: number) =>
      resolveAgent(repository, organization, { agentId: id, version });
    await expect(find(home, 'agent_none')).rejects.toEqual(status(404));
    await expect(find('org_other', agentId)).rejects.toEqual(status(404));
    await expect(find(home, agentId, 2)).rejects.toEqual(status(404));
    await call(`POST agents/${agentId}/archive`);
    await expect(find(home, agentId)).rejects.toEqual(status(409));
  });

  it('is a declarative runtime, without id and version', async () => {
    const runtime = { type: 'agent', model: 'acme/fast', system: 'Be brief.' };
    const { body } = await call('POST services', { name: 'quick', protocols: ['rest'], runtime });
    const source = { name: 'quick', runtime: body['runtime'] };
    expect(await resolveAgent(resources.repository, home, source)).toMatchObject({
      id: null,
      version: null,
      name: 'quick',
      model: { id: 'acme/fast' },
      system: 'Be brief.',
    });
  });

  it('has the overrides in place of its own', async () => {
    const { repository } = resources;
    const tool = {
      type: 'custom',
      name: 'look',
      description: '',
      input_schema: { type: 'object' },
    };
    const overrides = { model: 'acme/slow', system: null, tools: [tool] };
    expect(await resolveAgent(repository, home, { agentId, overrides })).toMatchObject({
      id: agentId,
      version: 1,
      model: { id: 'acme/slow' },
      system: null,
      tools: [tool],
    });
    for (const [wrong, param] of [
      [{ name: 'x' }, 'agent.name'],
      [{ harness: 'sh' }, 'agent.harness'],
      [{ tools: [{ type: 'x' }] }, 'agent.tools[0].type'],
      [{ model: null }, 'agent.model'],
    ] as const) {
      const source = { agentId, overrides: wrong, prefix: 'agent.' };
      const refused = resolveAgent(repository, home, source);
      await expect(refused).rejects.toMatchObject({ status: 400, param });
    }
  });
});
