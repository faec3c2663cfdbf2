import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../src/cli/output/render-plan.ts';
import { renderPlanMarkdown } from '../../../src/cli/output/render-plan-markdown.ts';
import { createStyle } from '../../../src/cli/output/style.ts';
import { verifies } from '../../requirements.ts';
import { planning } from './planned-on-fake.ts';

const PROVIDERS =
  'organizations: [{ name: default }, { name: acme }]\nproviders: [{ name: up, type: mock }]\n';
const model = (name: string, upstream: string, cap = '') =>
  `  - { name: ${name}, ${cap}routes: [{ provider: up, upstream_model: ${upstream} }] }\n`;

describe('objects that are created and removed in one plan', () => {
  const before = `${PROVIDERS}models:\n${model('team/one', 'a')}${model('team/two', 'b', 'description: second, ')}`;
  const after = `${PROVIDERS}models:\n${model('team/zwei', 'b', 'description: second, ')}${model('team/eins', 'a')}`;

  it(
    verifies('apply.moved-offered', 'are paired by their fields, with a snippet to paste'),
    async () => {
      const { planOf, applied } = planning();
      await applied(before);
      for (const mode of ['apply', 'prune'] as const) {
        const { plan } = await planOf(after, { mode });
        expect(plan.renames).toEqual([
          { kind: 'model', from: 'team/one', to: 'team/eins' },
          { kind: 'model', from: 'team/two', to: 'team/zwei' },
        ]);
        const text = renderPlan(plan, createStyle(false), { all: false });
        const [, snippet = ''] = /^ {4}(moved:\n(?: {6}- .*\n)+)/m.exec(text) ?? [];
        expect(snippet).toContain('- { kind: model, from: team/one, to: team/eins }');
        expect(renderPlanMarkdown(plan)).toContain('```yaml\nmoved:\n  - { kind: model,');
        const pasted = await planOf(after + snippet, { mode });
        expect(pasted.plan.summary).toMatchObject({ create: 0, update: 2, remove: 0 });
        expect(pasted.plan).not.toHaveProperty('renames');
      }
    },
  );

  it('stay in their organization, and one of several is the one that differs least', async () => {
    const { planOf, applied } = planning();
    await applied(
      `${PROVIDERS}keys: [{ name: a, rpm_cap: 5 }, { name: b, rpm_cap: 6 }, { name: c, organization: acme, rpm_cap: 7 }]\n`,
    );
    const { plan } = await planOf(
      `${PROVIDERS}keys: [{ name: x, rpm_cap: 6 }, { name: "on", organization: acme }]\n`,
    );
    expect(plan.renames).toEqual([
      { kind: 'key', from: 'b', to: 'x' },
      { kind: 'key', organization: 'acme', from: 'c', to: 'on' },
    ]);
    const text = renderPlan(plan, createStyle(false), { all: false });
    expect(text).toContain('{ kind: key, organization: acme, from: c, to: "on" }');
  });

  it('have the word of people for their kind, in text alone, and it can be pasted', async () => {
    const { planOf, applied } = planning();
    const schedule = (name: string) =>
      `${PROVIDERS}models:\n${model('team/one', 'a')}agents: [{ name: bot, model: team/one }]\ndeployments: [{ name: ${name}, agent_id: bot, initial_events: [{ type: user.message, content: [{ type: text, text: Go. }] }] }]\n`;
    await applied(schedule('daily'));
    const { plan } = await planOf(schedule('nightly'));
    expect(plan.actions.at(-1)).toMatchObject({ kind: 'deployment', action: 'create' });
    const text = renderPlan(plan, createStyle(false), { all: false });
    expect(text).toContain('+ create schedule default/nightly');
    const entry = '- { kind: schedule, from: daily, to: nightly }';
    expect(text).toContain(entry);
    for (const one of [text, renderPlanMarkdown(plan)]) expect(one).not.toContain('deployment');
    const pasted = await planOf(`${schedule('nightly')}moved:\n  ${entry}\n`);
    expect(pasted.plan.summary).toMatchObject({ create: 0, update: 1, remove: 0 });
  });

  it('of different kinds are no pair', async () => {
    const { planOf, applied } = planning();
    await applied(`${PROVIDERS}models:\n${model('team/one', 'a')}`);
    const { plan } = await planOf(
      `${PROVIDERS}models: []\naliases: [{ name: one, model: up/a }]\n`.replace(
        'type: mock',
        'type: mock, models: all',
      ),
    );
    expect(plan).not.toHaveProperty('renames');
  });
});
