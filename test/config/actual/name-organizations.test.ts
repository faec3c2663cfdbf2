import { beforeEach, describe, expect, it } from 'vitest';
import { checkDangling } from '../../../src/config/plan/check-online.ts';
import { plan } from '../../../src/config/plan/plan.ts';
import { type DeclaredOnGateway, declaredOnGateway } from '../declared-on-gateway.ts';

const names = (list: readonly { kind: string; identity: string }[] = []) =>
  list.map(({ kind, identity }) => `${kind} ${identity}`);

describe('an organization that is named by its id here and by its name there', () => {
  let gateway: DeclaredOnGateway;
  let id: string;
  beforeEach(async () => {
    gateway = await declaredOnGateway();
    id = (await gateway.client.create('organization', { name: 'first' })).id;
  });

  const agentAndService = () => `
agents: [{ name: bot, organization: first, model: a/b }]
services:
  - { name: desk, organization: ${id}, agent_id: "\${ref:agent.bot.id}", protocols: [rest] }
`;

  it('is one: what is referred to is written first, and then nothing', async () => {
    const { plan: made, report } = await gateway.applied(agentAndService());
    expect(names(made.actions)).toEqual(['agent first/bot', 'service first/desk']);
    expect([names(report.applied), report.failed]).toEqual([names(made.actions), []]);
    expect((await gateway.applied(agentAndService())).plan.summary.total).toBe(0);
  });

  it('is one for what is read at start, too', async () => {
    const { diagnostics, report } = await gateway.started(agentAndService());
    expect([diagnostics, names(report?.applied)]).toEqual([
      [],
      ['agent first/bot', 'service first/desk'],
    ]);
  });

  it('is told apart from no other: one object under both is declared twice', async () => {
    const text = `keys:\n  - { name: k, organization: first }\n  - { name: k, organization: ${id} }\n`;
    const fault = {
      file: 'gateway.yaml',
      line: 4,
      column: 5,
      path: 'key first/k',
      severity: 'error',
      message: 'is declared twice',
      hint: 'the first is at gateway.yaml:3:5; one of them names the organization by its id; remove one',
    };
    expect(checkDangling(await gateway.compared(text))).toEqual([fault]);
    const started = await gateway.started(text);
    expect(started).toEqual({ plan: undefined, report: undefined, diagnostics: [fault] });
    expect((await gateway.client.list('key')).map(({ name }) => name)).not.toContain('k');
  });

  it('is found by an entry of moved', async () => {
    await gateway.applied('keys: [{ name: old, organization: first }]');
    const text = `keys: [{ name: new, organization: first }]
moved: [{ kind: key, organization: ${id}, from: old, to: new }]`;
    const { actions } = plan(await gateway.compared(text));
    expect(actions).toMatchObject([{ identity: 'first/new', reason: 'renamed from first/old' }]);
  });

  it('keeps its id where it is about to get another name', async () => {
    await gateway.applied(`keys: [{ name: k, organization: ${id} }]`);
    const text = `organizations: [{ name: second }]
keys: [{ name: k, organization: ${id} }]
moved: [{ kind: organization, from: first, to: second }]`;
    const { plan: made, report } = await gateway.applied(text);
    expect(made.summary).toMatchObject({ create: 0, update: 1, none: 1 });
    expect(report.failed).toEqual([]);
  });
});

describe('an organization that gets another name', () => {
  const before = `
organizations: [{ name: first, display_name: First }]
agents: [{ name: bot, organization: first, model: a/b }]
keys: [{ name: k, organization: first }, { name: old, organization: first }]
budgets: [{ name: team, organization: first, amount: "5", per: day, match: { keys: [k] } }]`;
  const after = (organization: string, moved: string) => `
organizations: [${organization}]
agents: [{ name: bot, organization: second, model: a/c }]
keys: [{ name: k, organization: second }, { name: new, organization: second }]
budgets: [{ name: team, organization: second, amount: "5", per: day, match: { keys: [k] } }]
moved: [${moved}{ kind: key, organization: second, from: old, to: new }]`;
  const move = '{ kind: organization, from: first, to: second }, ';

  it.each([
    ['by an entry of moved', () => after('{ name: second, display_name: First }', move)],
    ['by its id', (id: string) => after(`{ name: second, display_name: First, id: ${id} }`, '')],
  ])('keeps all that belongs to it: %s', async (_how, textFor) => {
    const gateway = await declaredOnGateway();
    await gateway.applied(before);
    const [first] = (await gateway.client.list('organization')).slice(-1);
    const text = textFor(first!.id);
    const compared = await gateway.compared(text);
    expect(plan({ ...compared, mode: 'prune' }).summary).toMatchObject({ create: 0, remove: 0 });
    const { plan: made, report } = await gateway.applied(text);
    expect(made.prunable).toEqual([]);
    expect(names(made.actions.filter(({ action }) => action === 'update'))).toEqual([
      'organization second',
      'key second/new',
      'agent second/bot',
    ]);
    expect([report.failed, report.blocked]).toEqual([[], []]);
    expect((await gateway.applied(text)).plan.summary).toMatchObject({ total: 0, none: 5 });
  });

  it('keeps it at start', async () => {
    const gateway = await declaredOnGateway();
    await gateway.started(before);
    const { plan: made, diagnostics } = await gateway.started(
      after('{ name: second, display_name: First }', move),
    );
    expect([diagnostics, made?.summary]).toMatchObject([[], { create: 0, update: 3, remove: 0 }]);
  });
});
