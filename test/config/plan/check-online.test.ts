import { beforeEach, describe, expect, it } from 'vitest';
import { checkDangling, checkOnline } from '../../../src/config/plan/check-online.ts';
import { plan } from '../../../src/config/plan/plan.ts';
import { type DeclaredOnGateway, declaredOnGateway } from '../declared-on-gateway.ts';

let gateway: DeclaredOnGateway;
let id: string;
beforeEach(async () => {
  gateway = await declaredOnGateway();
  id = (await gateway.client.create('organization', { name: 'acme' })).id;
});

async function faults(text: string): Promise<{ all: string[]; dangling: string[] }> {
  const state = await gateway.compared(text);
  const told = checkOnline({ ...state, plan: plan(state) });
  const [all, dangling] = [told, checkDangling(state)].map((list) =>
    list.map(({ line, path, message }) => `${line} ${path}: ${message}`),
  );
  return { all: all!, dangling: dangling! };
}

const service = (owner: string, agent: string) =>
  `services: [{ name: desk, organization: ${owner}, agent_id: ${agent}, protocols: [rest] }]`;

describe('what an object refers to', () => {
  it('is of its own organization, however that is spelled', async () => {
    const agents = `agents: [{ name: bot, organization: ${id}, model: a/b }]\n`;
    const model = `models: [{ name: a/b, routes: [] }]\n`;
    const reference = '"${ref:agent.bot.id}"';
    const missing = [
      '4 service default/desk: ${ref:agent.bot.id}: no agent is named bot in organization default',
    ];
    expect(await faults(model + agents + service('default', reference))).toEqual({
      all: missing,
      dangling: missing,
    });
    expect(await faults(model + agents + service('acme', reference))).toEqual({
      all: [],
      dangling: [],
    });
  });

  it('is not what another organization declares under a plain name', async () => {
    const models = 'models: [{ name: a/b, routes: [] }]\n';
    const text = `${models}agents: [{ name: bot, organization: ${id}, model: a/b }]\n`;
    const { dangling } = await faults(text + service('default', 'bot'));
    expect(dangling).toEqual([
      '4 service default/desk: ${ref:agent.bot.id}: no agent is named bot in organization default',
    ]);
    expect((await faults(text + service('acme', 'bot'))).dangling).toEqual([]);
  });
});

describe('an object that is pinned', () => {
  it('is told of when nothing has its id', async () => {
    const { all } = await faults('keys: [{ name: pinned, id: key_doesnotexist }]');
    expect(all).toEqual([
      '2 key default/pinned: is pinned to the id key_doesnotexist, which nothing has',
    ]);
  });
});
