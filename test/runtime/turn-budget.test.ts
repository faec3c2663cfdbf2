import { describe, expect, it } from 'vitest';
import { agentWithTools } from './fake-agent.ts';
import { FakeSession } from './fake-log.ts';
import { fakeServers } from './fake-servers.ts';
import { checkLog } from './log-laws.ts';
import { loopBench } from './loop-bench.ts';

const CENT = 10_000_000;

describe('a budget', () => {
  /** Every answer costs one cent and calls a tool. */
  const open = (cents: number) => {
    const servers = fakeServers();
    const bench = loopBench({
      rules: [{ reply: { tool_calls: [{ name: 'shop__search' }] } }],
      servers,
      pricing: { perCall: CENT },
    });
    const session = new FakeSession(agentWithTools());
    const max_list_cost = { amount: String(cents), currency: 'USD' as const };
    session.session = { ...session.session, budget: { type: 'limit', max_list_cost } };
    return { servers, bench, session };
  };
  const reasons = (session: FakeSession) =>
    session
      .of('session.status_idle')
      .map((event) => (event['stop_reason'] as { type: string }).type);

  it('ends a turn that has used it up, before it asks once more', async () => {
    const { servers, bench, session } = open(3);
    session.message('hello');
    await bench.run(session);
    expect(bench.engine.calls()).toHaveLength(3);
    // What was called for is paid, and is run.
    expect(servers.calls).toHaveLength(3);
    expect(reasons(session)).toEqual(['budget_reached']);
    expect(session.session.cost).toBe(3 * CENT);
    checkLog(session.placed);
  });

  it('ends every further turn at once, in another process too, until it is raised', async () => {
    const { bench, session } = open(1);
    session.message('one');
    session.message('two');
    await bench.run(session);
    session.message('three');
    await bench.run(session);
    expect(bench.engine.calls()).toHaveLength(1);
    expect(reasons(session)).toEqual(Array(3).fill('budget_reached'));
    session.session = { ...session.session, budget: null };
    session.message('four');
    await bench.run(session);
    expect(bench.engine.calls().length).toBeGreaterThan(1);
    checkLog(session.placed);
  });

  it('holds after a crash', async () => {
    const { bench, session } = open(2);
    session.message('hello');
    session.dieAt({ at: 3, when: 'before' });
    expect(await bench.run(session)).toBe(true);
    await bench.run(session);
    expect(session.session.cost).toBe(2 * CENT);
    expect(reasons(session)).toEqual(['budget_reached']);
  });
});
