import { describe, expect, it } from 'vitest';
import type { RouteHealth } from '../../src/routing/health.ts';
import { explainPlan } from '../../src/routing/explain-plan.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';

const FRESH: RouteHealth = {
  state: 'available',
  until: undefined,
  consecutiveFaults: 0,
  latencyMs: undefined,
};

function explain(model: ReturnType<typeof fakeModel>, rest: object = {}) {
  return explainPlan({
    catalog: fakeCatalog(model),
    model,
    client: { id: 'chat' },
    health: { look: () => FRESH },
    affinity: 'key_1',
    ...rest,
  });
}

describe('an explained plan', () => {
  it('shows the order with the share of each weight', () => {
    const { candidates } = explain(
      fakeModel('acme/fast', [
        fakeRoute('last', { priority: 1 }),
        fakeRoute('small', { weight: 1 }),
        fakeRoute('big', { weight: 3 }),
      ]),
    );
    expect(candidates.map(({ provider, share }) => [provider, share])).toEqual([
      ['big', 0.75],
      ['small', 0.25],
      ['last', null],
    ]);
    expect(candidates[0]?.why).toBe('priority 0, drawn by weight (75 %)');
    expect(candidates[2]?.why).toBe('priority 1');
  });

  it('names the protocol that a provider is asked in, and why a route is left out', () => {
    const { candidates, left_out: leftOut } = explain(
      fakeModel('acme/fast', [
        fakeRoute('own'),
        fakeRoute('other', { protocols: new Set(['messages']), priority: 1 }),
        fakeRoute('pictures', { protocols: new Set(['images']) }),
      ]),
      { client: { id: 'chat', translatesTo: ['responses', 'messages'] } },
    );
    expect(candidates.map(({ provider, protocol }) => [provider, protocol])).toEqual([
      ['own', 'chat'],
      ['other', 'messages'],
    ]);
    expect(candidates[1]?.why).toBe('priority 1; translated from chat');
    expect(candidates[1]?.capabilities).toMatchObject({ min_budget: 1024 });
    expect(leftOut).toMatchObject([
      {
        provider: 'pictures',
        protocol: null,
        capabilities: null,
        why: expect.stringContaining('speaks images'),
      },
    ]);
  });

  it('tells of mapping: translated where that alone is missing', () => {
    const { left_out: leftOut } = explain(fakeModel('acme/fast', [fakeRoute('own')]), {
      client: { id: 'generate-content', translatesTo: ['chat'], translatedWhenMapped: true },
    });
    expect(leftOut[0]?.why).toContain('`mapping: translated`');
  });

  it('puts what is cooled last and says until when', () => {
    const sick = fakeRoute('sick');
    const { candidates } = explain(
      fakeModel('acme/fast', [sick, fakeRoute('well', { priority: 1 })]),
      {
        health: {
          look: (route: unknown) =>
            route === sick
              ? { ...FRESH, state: 'cooled', until: 1000, consecutiveFaults: 5 }
              : FRESH,
        },
      },
    );
    expect(candidates.map(({ provider }) => provider)).toEqual(['well', 'sick']);
    expect(candidates[1]).toMatchObject({
      health: { state: 'cooled', until: '1970-01-01T00:00:01.000Z', consecutive_faults: 5 },
      why: 'priority 0; cooled down, so behind all others',
    });
  });
});
