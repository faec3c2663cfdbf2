import { describe, expect, it } from 'vitest';
import { createHealth } from '../../src/routing/health.ts';
import { planCandidates } from '../../src/routing/plan.ts';
import type { PlanRequest } from '../../src/routing/plan.ts';
import type { Model } from '../../src/routing/catalog.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { verifies } from '../requirements.ts';

/** Numerical Recipes' linear congruential generator: the same draws in every run. */
function seededRandom(seed = 42): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function setup(model: Model, others: Model[] = []) {
  const clock = createFakeClock();
  const health = createHealth({ clock });
  const random = seededRandom();
  const plan = (overrides: Partial<PlanRequest> = {}) =>
    planCandidates({
      catalog: fakeCatalog(model, ...others),
      model,
      client: { id: 'chat' },
      health,
      random,
      affinity: 'user-1',
      ...overrides,
    });
  const order = (overrides?: Partial<PlanRequest>) =>
    plan(overrides).candidates.map(({ route }) => route.provider.name);
  return { clock, health, plan, order };
}

describe('planCandidates', () => {
  it(
    verifies(
      'routing.weights',
      'shares traffic of one priority by weight within 5 percent over 1000 requests',
    ),
    () => {
      const { order } = setup(
        fakeModel('m', [fakeRoute('a', { weight: 7 }), fakeRoute('b', { weight: 3 })]),
      );
      let first = 0;
      for (let i = 0; i < 1000; i++) if (order()[0] === 'a') first += 1;
      expect(Math.abs(first - 700)).toBeLessThanOrEqual(50);
    },
  );

  it(
    verifies(
      'routing.affinity.conversation',
      'keeps a conversation on one route while it is healthy, and spreads those of a key by weight',
    ),
    () => {
      for (const strategy of ['priority', 'sticky'] as const) {
        const routes = ['a', 'b', 'c', 'd'].map((name) => fakeRoute(name));
        const { health, order } = setup(fakeModel('m', routes, { strategy }));
        const firsts = Array.from({ length: 400 }, (_, index) => {
          const conversation = `conversation-${index}`;
          const planned = order({ conversation });
          if (index < 20) expect(order({ conversation })).toEqual(planned);
          return planned[0];
        });
        for (const { provider } of routes) {
          const share = firsts.filter((name) => name === provider.name).length;
          expect(Math.abs(share - 100), provider.name).toBeLessThanOrEqual(35);
        }
        const [first = '', second] = order({ conversation: 'mine' });
        const route = routes.find(({ provider }) => provider.name === first);
        if (route) health.begin(route).fault('rate', 1000);
        expect(order({ conversation: 'mine' })[0]).toBe(second);
      }
      const [a, b] = [fakeRoute('a', { weight: 8 }), fakeRoute('b', { weight: 2 })];
      const { order } = setup(fakeModel('m', [a, b]));
      const heavy = Array.from({ length: 1000 }, (_, index) => order({ conversation: `${index}` }));
      const share = heavy.filter(([first]) => first === 'a').length;
      expect(Math.abs(share - 800)).toBeLessThanOrEqual(50);
    },
  );

  it(
    verifies(
      'routing.weights',
      'puts a lower priority behind every higher one, and uses it alone when those are cooled',
    ),
    () => {
      const [a, b, c] = [
        fakeRoute('a'),
        fakeRoute('b'),
        fakeRoute('c', { priority: 1, weight: 1000 }),
      ];
      const { order, health } = setup(fakeModel('m', [c, a, b]));
      for (let i = 0; i < 50; i++) expect(order()[2]).toBe('c');
      health.begin(a).fault('rate', 1000);
      health.begin(b).fault('rate', 1000);
      expect(order()[0]).toBe('c');
    },
  );

  it(
    verifies(
      'routing.cooldown',
      'gives a cooled candidate no traffic while another is available, and says why',
    ),
    () => {
      const [a, b] = [fakeRoute('a'), fakeRoute('b', { priority: 5 })];
      const { plan, health, clock } = setup(fakeModel('m', [a, b]));
      health.begin(a).fault('rate', 1000);
      expect(plan().candidates.map(({ route }) => route.provider.name)).toEqual(['b', 'a']);
      expect(plan().skipped).toMatchObject([{ route: { id: 'a/model' }, reason: 'cooldown' }]);
      clock.advance(1000);
      expect(plan().candidates[0]?.route.provider.name).toBe('a');
    },
  );

  it('leaves out routes that do not speak the protocol', () => {
    const { plan } = setup(
      fakeModel('m', [fakeRoute('a', { protocols: new Set(['messages']) }), fakeRoute('b')]),
    );
    expect(plan().candidates).toHaveLength(1);
    expect(plan().skipped).toMatchObject([{ route: { id: 'a/model' }, reason: 'protocol' }]);
  });

  it(
    verifies(
      'routing.model-fallback',
      'tries the fallback models behind all candidates of the model, each once, cycles included',
    ),
    () => {
      const first = fakeModel('first', [fakeRoute('a'), fakeRoute('b', { priority: 9 })], {
        fallbacks: ['second', 'gone'],
      });
      const second = fakeModel('second', [fakeRoute('c')], { fallbacks: ['first', 'third'] });
      const third = fakeModel('third', [fakeRoute('d')]);
      const { order } = setup(first, [second, third]);
      expect(order()).toEqual(['a', 'b', 'c', 'd']);
    },
  );

  it(
    verifies('keys.allowed-models', 'leaves out fallback models that the caller may not use'),
    () => {
      const first = fakeModel('first', [fakeRoute('a')], { fallbacks: ['second', 'third'] });
      const others = [fakeModel('second', [fakeRoute('b')]), fakeModel('third', [fakeRoute('c')])];
      const { order } = setup(first, others);
      expect(order({ allows: ({ id }) => id !== 'second' })).toEqual(['a', 'c']);
    },
  );

  it('a sticky model keeps one end user on one candidate and spreads users by weight', () => {
    const routes = [fakeRoute('a', { weight: 3 }), fakeRoute('b', { weight: 1 })];
    const { order } = setup(fakeModel('m', routes, { strategy: 'sticky' }));
    expect(new Set(Array.from({ length: 20 }, () => order({ affinity: 'same' })[0])).size).toBe(1);
    let first = 0;
    for (let user = 0; user < 2000; user++)
      if (order({ affinity: `user-${user}` })[0] === 'a') first += 1;
    expect(first / 2000).toBeGreaterThan(0.7);
    expect(first / 2000).toBeLessThan(0.8);
  });

  it('least latency measures every candidate once, then prefers the quickest', () => {
    const [a, b] = [fakeRoute('a'), fakeRoute('b')];
    const { order, health } = setup(fakeModel('m', [a, b], { strategy: 'least_latency' }));
    health.begin(a).success(50);
    expect(order()[0]).toBe('b');
    health.begin(b).success(80);
    expect(order()[0]).toBe('a');
  });

  it('least latency never weighs whole answers against first contents', () => {
    const [a, b] = [fakeRoute('a'), fakeRoute('b')];
    const { order, health } = setup(fakeModel('m', [a, b], { strategy: 'least_latency' }));
    health.begin(a, 'stream').success(50);
    health.begin(b, 'stream').success(80);
    health.begin(a, 'whole').success(9_000);
    health.begin(b, 'whole').success(4_000);
    expect(order({ form: 'stream' })[0]).toBe('a');
    expect(order({ form: 'whole' })[0]).toBe('b');
  });

  it('least latency tries a route again that was slow once', () => {
    const [cold, warm] = [fakeRoute('cold'), fakeRoute('warm')];
    const model = fakeModel('m', [warm, cold], { strategy: 'least_latency' });
    const { clock, order, health } = setup(model);
    health.begin(cold).success(20_000);
    for (let minute = 0; minute < 5; minute++) {
      health.begin(warm).success(500);
      expect(order()[0]).toBe('warm');
      clock.advance(60_000);
    }
    health.begin(warm).success(500);
    expect(order()[0]).toBe('cold');
    health.begin(cold).success(100);
    expect(order()[0]).toBe('cold');
  });
});
