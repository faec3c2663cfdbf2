import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createIdSource } from '../../src/core/ids.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { createSessions } from '../../src/sessions/create-sessions.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { Op } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { follow, historyOf, newSession, ORG, say, settled, typesOf } from '../sessions/support.ts';
import { agentWithTools, fakeAgent } from './fake-agent.ts';
import { fakeServers } from './fake-servers.ts';
import { loopBench } from './loop-bench.ts';
import type { BenchOptions } from './loop-bench.ts';

/** One process with a Session that has said nothing yet, and what its store is asked to write. */
async function setUp(options: BenchOptions = {}, agent = fakeAgent({})) {
  const clock = createFakeClock();
  const memory = openMemoryStore(clock);
  const commits: string[][] = [];
  const kept = { refused: undefined as ((ops: readonly Op[]) => boolean) | undefined };
  const store = {
    ...memory,
    commit(ops: readonly Op[]) {
      commits.push(ops.map(({ type, key }) => `${type} ${String(key[0])}`));
      return kept.refused?.(ops) === true
        ? Promise.resolve({ ok: false as const, conflict: ops[0]?.key ?? [] })
        : memory.commit(ops);
    },
  };
  const bench = loopBench(options);
  const jobs = createJobs({ store, clock, worker: 'a' });
  const ids = createIdSource(clock);
  const made = createSessions({ store, clock, ids, jobs, runner: bench.loop });
  const { sessions, handlers } = made;
  jobs.start(handlers);
  onTestFinished(() => jobs.close());
  const { session } = await sessions.create(newSession({ agent }));
  const { id } = session;
  commits.length = 0;
  return {
    bench,
    clock,
    commits,
    kept,
    sessions,
    id,
    send: (text: string) => sessions.send(ORG, id, [say(text)]),
    rest: () => vi.waitFor(async () => expect(await settled(sessions, id)).toBe(true), 10_000),
    jobRows: async () => (await memory.list({ prefix: ['job'] })).length,
  };
}

describe('a turn of one answer', () => {
  it('is two commits: the message with its claimed job, the answer with the end of the job', async () => {
    const { send, rest, commits, jobRows, sessions, id } = await setUp();
    await send('hello');
    await rest();
    expect(commits).toHaveLength(2);
    const [asked, answered] = commits;
    expect(asked).toContain('put job');
    expect(answered).toContain('delete job');
    expect(answered).toContain('put session');
    expect(await jobRows()).toBe(0);
    expect(typesOf(await historyOf(sessions, id))).toEqual([
      'user.message',
      'session.status_running',
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
      'session.status_idle',
    ]);
  });

  it('tells those who follow its parts of the start of its request before them', async () => {
    const { send, rest, commits, sessions, id } = await setUp();
    const { seen } = await follow(sessions, id, { deltas: ['agent.message'] });
    await send('hello');
    await rest();
    expect(commits).toHaveLength(3);
    const types = () => seen.map((item) => ('type' in item ? item.type : item.event.type));
    await vi.waitFor(() => expect(types().at(-1)).toBe('session.status_idle'));
    expect(types().indexOf('event_start')).toBeGreaterThan(
      types().indexOf('span.model_request_start'),
    );
    expect(types().indexOf('event_start')).toBeLessThan(types().indexOf('agent.message'));
  });

  it('has the start of its request in the log while a slow model answers', async () => {
    const rules = [{ match: { times: 1 }, reply: { text: 'late', delay_ms: 60_000 } }];
    const { send, rest, bench, commits, sessions, id } = await setUp({ rules });
    await send('hello');
    await vi.waitFor(() => expect(bench.engine.calls()).toHaveLength(1));
    expect(typesOf(await historyOf(sessions, id))).not.toContain('span.model_request_start');
    bench.clock.advance(25);
    await vi.waitFor(async () =>
      expect(typesOf(await historyOf(sessions, id))).toContain('span.model_request_start'),
    );
    bench.clock.advance(60_000);
    await rest();
    expect(commits).toHaveLength(3);
  });

  it('goes on with a message that came before its last commit, in the same go', async () => {
    const rules = [{ match: { times: 1 }, reply: { text: 'late', delay_ms: 60_000 } }];
    const { send, rest, bench, sessions, id, jobRows } = await setUp({ rules });
    await send('one');
    await vi.waitFor(() => expect(bench.engine.calls()).toHaveLength(1));
    await send('two');
    bench.clock.advance(60_000);
    await vi.waitFor(() => expect(bench.engine.calls()).toHaveLength(2));
    await rest();
    await vi.waitFor(async () => expect(await jobRows()).toBe(0));
    const types = typesOf(await historyOf(sessions, id));
    expect(types.filter((type) => type === 'agent.message')).toHaveLength(2);
  });

  it('ends by a commit of its own where the job cannot be dropped with the answer', async () => {
    const { send, rest, commits, kept, jobRows, sessions, id } = await setUp();
    const isBoth = (ops: readonly Op[]) =>
      ops.some(({ type, key }) => type === 'delete' && key[0] === 'job') &&
      ops.some(({ type, key }) => type === 'put' && key[0] === 'session');
    kept.refused = isBoth;
    await send('hello');
    await rest();
    await vi.waitFor(async () => expect(await jobRows()).toBe(0));
    expect(commits.length).toBeGreaterThan(3);
    const types = typesOf(await historyOf(sessions, id));
    expect(types.filter((type) => type === 'agent.message')).toHaveLength(1);
  });
});

it('a turn that waits for its client ends its job by itself, and goes on in a new one', async () => {
  const rules = [
    { match: { turn: 1 }, reply: { tool_calls: [{ name: 'look_up', arguments: {} }] } },
  ];
  const agent = fakeAgent(agentWithTools());
  const { send, rest, sessions, id, jobRows } = await setUp(
    { rules, servers: fakeServers() },
    agent,
  );
  await send('hello');
  await rest();
  await vi.waitFor(async () => expect(await jobRows()).toBe(0));
  const [use] = (await historyOf(sessions, id)).filter(({ event }) =>
    event.type.endsWith('tool_use'),
  );
  await sessions.send(ORG, id, [
    { type: 'user.custom_tool_result', custom_tool_use_id: use?.event.id, content: [] },
  ]);
  await rest();
  await vi.waitFor(async () => expect(await jobRows()).toBe(0));
  const types = typesOf(await historyOf(sessions, id));
  expect(types.filter((type) => type === 'agent.message')).toHaveLength(1);
});
