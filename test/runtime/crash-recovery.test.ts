import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../../src/sessions/log/session-event.ts';
import { verifies } from '../requirements.ts';
import { agentWithTools } from './fake-agent.ts';
import { FakeSession } from './fake-log.ts';
import type { CrashPoint } from './fake-log.ts';
import { fakeServers } from './fake-servers.ts';
import { checkLog, checkRequests } from './log-laws.ts';
import { loopBench } from './loop-bench.ts';
import type { Rules } from './loop-bench.ts';

type ToolName = 'shop__order' | 'shop__search' | 'shop__reserve' | 'look_up';

interface Scenario {
  /** Of each round of the turn, the tools that the model calls. */
  readonly rounds: readonly (readonly ToolName[])[];
  readonly policy: 'always_allow' | 'always_ask';
  /** Model requests that fail first. */
  readonly failures: number;
  /** Input moves the Session in its own commit. */
  readonly eager: boolean;
  /** Somebody follows parts of events, so that the start of a request is not put off. */
  readonly watched: boolean;
}

/** Every call has an input of its own, so that a second run of it shows. */
function toRules({ rounds, failures }: Scenario): Rules {
  const failing: Rules =
    failures > 0 ? [{ match: { times: failures }, reply: { status: 503 } }] : [];
  return [
    ...failing,
    ...rounds.map((names, round) => ({
      match: { turn: round + 1 },
      reply: {
        text: 'Let me see.',
        tool_calls: names.map((name, index) => ({ name, arguments: { n: `${round}.${index}` } })),
      },
    })),
    { reply: { text: 'Done.' } },
  ];
}

/** What the client says to the last event, where that asks for something: one thing at a time. */
function reply(session: FakeSession): NewEvent | undefined {
  const last = session.placed.at(-1)?.event;
  const { event_ids: ids = [] } = (last?.['stop_reason'] ?? {}) as { event_ids?: string[] };
  const [id] = ids;
  const use = session.placed.find(({ event }) => event.id === id)?.event;
  if (!use) return undefined;
  return use.type === 'agent.custom_tool_use'
    ? { type: 'user.custom_tool_result', custom_tool_use_id: use.id, content: [] }
    : { type: 'user.tool_confirmation', tool_use_id: use.id, result: 'allow' };
}

/** Runs the scenario to its end, one process dying after the other. */
async function play(scenario: Scenario, crashes: readonly CrashPoint[]) {
  const servers = fakeServers();
  const bench = loopBench({ rules: toRules(scenario), servers });
  const session = new FakeSession(agentWithTools(scenario.policy), scenario);
  session.message('hello');
  const left = [...crashes];
  session.dieAt(left.shift());
  let hasCrashed = 0;
  for (let goes = 0; goes < 200; goes++) {
    if (await bench.run(session)) {
      hasCrashed++;
      session.dieAt(left.shift());
      continue;
    }
    const said = reply(session);
    if (!said) break;
    session.send(said);
  }
  return { session, servers, bench, hasCrashed };
}

/** The laws that hold however often the processes died. */
async function check(scenario: Scenario, crashes: readonly CrashPoint[]): Promise<number> {
  const { session, servers, bench, hasCrashed } = await play(scenario, crashes);
  checkLog(session.placed);
  checkRequests(bench.engine.calls());
  expect(bench.bugs).toEqual([]);
  expect(session.of('session.status_idle').at(-1)).toMatchObject({
    stop_reason: { type: 'end_turn' },
  });
  const orders = servers.calls.filter((call) => call.startsWith('order'));
  expect(new Set(orders).size).toBe(orders.length);
  const used = session.of('agent.mcp_tool_use').filter(({ name }) => name !== 'order');
  const results = session.of('agent.mcp_tool_result');
  for (const { id } of used)
    expect(results.find((result) => result['mcp_tool_use_id'] === id)).toMatchObject({
      is_error: false,
    });
  return hasCrashed;
}

/** Dies at each append in turn, until the turn has none left; gives their number and one more. */
async function dieEverywhere(scenario: Scenario, when: CrashPoint['when']): Promise<number> {
  let at = 1;
  while ((await check(scenario, [{ at, when }])) > 0) at++;
  return at;
}

const FULL: Scenario = {
  rounds: [
    ['shop__order', 'shop__search', 'look_up'],
    ['shop__reserve', 'shop__order'],
  ],
  policy: 'always_allow',
  failures: 1,
  eager: true,
  watched: true,
};

describe('a turn whose process dies', () => {
  it('runs a call that was confirmed and not begun, and one that was begun not again', async () => {
    const scenario: Scenario = { ...FULL, policy: 'always_ask', rounds: [['shop__order']] };
    // Before it takes up the confirmation, before it has the result in the log.
    const ends = [];
    for (let at = 1; at <= 12; at++) {
      const { session, servers } = await play(scenario, [{ at, when: 'before' }]);
      const isError = session.of('agent.mcp_tool_result')[0]?.['is_error'];
      expect(servers.calls).toHaveLength(1);
      ends.push(isError);
    }
    expect(ends.filter((isError) => isError === true)).toHaveLength(1);
  });

  for (const when of ['before', 'behind'] as const) {
    it(
      verifies('sessions.turn.crash-recovery', `goes on wherever it died, ${when} any append`),
      async () => {
        for (const policy of ['always_allow', 'always_ask'] as const)
          for (const eager of [true, false])
            expect(await dieEverywhere({ ...FULL, policy, eager }, when)).toBeGreaterThan(12);
      },
    );

    it(`goes on ${when} any append, also where the start of a request comes with its end`, async () => {
      const appends = await dieEverywhere({ ...FULL, watched: false }, when);
      expect(appends).toBeLessThan(await dieEverywhere(FULL, when));
      expect(appends).toBeGreaterThan(8);
    });
  }

  it('ends in a valid turn however often it dies, and nothing acts twice', async () => {
    const tool = fc.constantFrom<ToolName>(
      'shop__order',
      'shop__search',
      'shop__reserve',
      'look_up',
    );
    const scenario = fc.record({
      rounds: fc.array(fc.array(tool, { minLength: 1, maxLength: 4 }), { maxLength: 3 }),
      policy: fc.constantFrom('always_allow' as const, 'always_ask' as const),
      failures: fc.nat({ max: 2 }),
      eager: fc.boolean(),
      watched: fc.boolean(),
    });
    const crash = fc.record({
      at: fc.integer({ min: 1, max: 12 }),
      when: fc.constantFrom('before' as const, 'behind' as const),
    });
    await fc.assert(
      fc.asyncProperty(scenario, fc.array(crash, { maxLength: 8 }), async (one, crashes) => {
        await check(one, crashes);
      }),
      { numRuns: 60 },
    );
  });

  it('answers a call that may have had its effect with an error that says so', async () => {
    const scenario: Scenario = { ...FULL, rounds: [['shop__order']], failures: 0 };
    const { session, servers } = await play(scenario, [{ at: 3, when: 'before' }]);
    expect(servers.calls).toEqual(['order {"n":"0.0"}']);
    expect(session.of('agent.mcp_tool_result')).toMatchObject([
      { is_error: true, content: [{ text: expect.stringContaining('interrupted') as string }] },
    ]);
  });

  it('repeats a call of which the server says that this changes nothing', async () => {
    const scenario: Scenario = { ...FULL, rounds: [['shop__reserve']], failures: 0 };
    const { session, servers } = await play(scenario, [{ at: 3, when: 'before' }]);
    expect(servers.calls).toEqual(['reserve {"n":"0.0"}', 'reserve {"n":"0.0"}']);
    expect(session.of('agent.mcp_tool_result')).toMatchObject([{ is_error: false }]);
  });
});
