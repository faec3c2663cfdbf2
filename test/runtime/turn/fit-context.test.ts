import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MockCall } from '../../../src/providers/mock/tape/journal.ts';
import { agentWithTools, fakeAgent } from '../fake-agent.ts';
import { FakeSession } from '../fake-log.ts';
import { fakeServers } from '../fake-servers.ts';
import { checkLog, checkRequests } from '../log-laws.ts';
import { loopBench } from '../loop-bench.ts';

/** Tokens; a quarter is for the answer. */
const WINDOW = 4_000;

const read = ({ body }: MockCall) =>
  JSON.parse(body.toString()) as {
    system?: string;
    messages: { role: string; content: unknown }[];
  };
const sizeOf = (call: MockCall) => JSON.stringify(read(call).messages).length / 4;
const leftOut = (session: FakeSession) =>
  session
    .of('span.model_request_start')
    .flatMap((event) => (event['context_left_out'] as number) ?? []);
const reasons = (session: FakeSession) =>
  session.of('session.status_idle').map((event) => (event['stop_reason'] as { type: string }).type);
/** Some 500 tokens that tell their number. */
const long = (n: number) => `number ${n}. ${'word '.repeat(400)}`;

describe('a conversation that is longer than the model reads', () => {
  it('goes on without its older part, which the log and the model are told', async () => {
    const bench = loopBench({ contextWindow: WINDOW });
    const session = new FakeSession(fakeAgent());
    for (let n = 1; n <= 20; n++) {
      session.message(long(n));
      await bench.run(session);
    }
    const calls = bench.engine.calls();
    expect(calls).toHaveLength(20);
    for (const [index, call] of calls.entries()) {
      const { messages } = read(call);
      expect(sizeOf(call)).toBeLessThan(WINDOW * 0.8);
      expect(messages[0]?.role).toBe('user');
      expect(JSON.stringify(messages.at(-1))).toContain(`number ${index + 1}.`);
    }
    expect(leftOut(session).length).toBeGreaterThan(1);
    expect(JSON.stringify(read(calls[0]!).system)).not.toContain('left out');
    expect(JSON.stringify(read(calls.at(-1)!).system)).toContain('left out');
    expect(reasons(session)).toEqual(Array(20).fill('end_turn'));
    checkLog(session.placed);
  });

  it('asks the same after a crash, whatever the calls of tools in it', async () => {
    const rounds = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 6, maxLength: 14 });
    const crashes = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(rounds, crashes, async (counts, deaths) => {
        const text = 'result '.repeat(200);
        const onCall = async () => ({ content: [{ type: 'text' as const, text }], isError: false });
        const rules = counts.map((count, index) => ({
          match: { times: 1 },
          reply: {
            text: `round ${index}`,
            tool_calls: Array.from({ length: count }, () => ({ name: 'shop__search' })),
          },
        }));
        const bench = loopBench({
          rules: [...rules, { reply: { text: 'Done.' } }],
          servers: fakeServers({ onCall }),
          contextWindow: WINDOW,
        });
        const session = new FakeSession(agentWithTools());
        session.message('the one task');
        for (const at of [...deaths, undefined]) {
          session.dieAt(at === undefined ? undefined : { at, when: 'before' });
          await bench.run(session);
        }
        session.dieAt(undefined);
        await bench.run(session);
        const calls = bench.engine.calls();
        checkLog(session.placed);
        checkRequests(calls);
        for (const call of calls) {
          const { messages } = read(call);
          expect(JSON.stringify(messages[0])).toContain('the one task');
          expect(sizeOf(call)).toBeLessThan(WINDOW);
        }
        // Whoever finds the log before the last answer asks what was asked for it.
        const begun = session.types.lastIndexOf('span.model_request_start') + 1;
        const heir = new FakeSession(agentWithTools());
        heir.placed.push(...session.placed.slice(0, begun));
        const fresh = loopBench({ contextWindow: WINDOW });
        await fresh.run(heir);
        const [again, ...others] = fresh.engine.calls();
        expect(read(again!)).toEqual(read(calls.at(-1)!));
        expect(others).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  it('is cut when the provider says that it is too long, in its words', async () => {
    const error = { message: 'prompt is too long: 210000 tokens > 200000 maximum' };
    const rules = [
      { match: { turn: 3, times: 1 }, reply: { status: 400, error } },
      { reply: { text: 'fine' } },
    ];
    const bench = loopBench({ rules });
    const session = new FakeSession(fakeAgent());
    for (let n = 1; n <= 3; n++) {
      session.message(long(n));
      await bench.run(session);
    }
    expect(session.of('session.error')).toMatchObject([
      { error: { retry_status: { type: 'retrying' } } },
    ]);
    expect(leftOut(session)).toHaveLength(1);
    const last = bench.engine.calls().at(-1)!;
    expect(JSON.stringify(read(last).messages)).not.toContain('number 1.');
    expect(JSON.stringify(read(last).messages)).toContain('number 3.');
    expect(reasons(session)).toEqual(Array(3).fill('end_turn'));
    checkLog(session.placed);
  });

  it('ends the turn when there is nothing to leave out', async () => {
    const error = { message: "This model's maximum context length is 8192 tokens" };
    const bench = loopBench({ rules: [{ reply: { status: 400, error } }] });
    const session = new FakeSession(fakeAgent());
    session.message(long(1));
    await bench.run(session);
    expect(bench.engine.calls()).toHaveLength(1);
    expect(reasons(session)).toEqual(['retries_exhausted']);
  });

  it('goes on with a request that has too many bytes', async () => {
    const rules = [
      { match: { turn: 2, times: 1 }, reply: { status: 413, error: { message: 'too large' } } },
      { reply: { text: 'fine' } },
    ];
    const bench = loopBench({ rules });
    const session = new FakeSession(fakeAgent());
    for (let n = 1; n <= 2; n++) {
      session.message(long(n));
      await bench.run(session);
    }
    expect(leftOut(session)).toHaveLength(1);
    expect(reasons(session)).toEqual(Array(2).fill('end_turn'));
  });
});

describe('a document', () => {
  const bytes = Buffer.alloc(600_000, 'x');
  const base64 = (media_type: string) => ({
    type: 'document',
    source: { type: 'base64', media_type, data: bytes.toString('base64') },
  });
  const named = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
  const upload = (mediaType: string) => ({
    files: { file_1: { name: 'one', mediaType, size: bytes.length, read: async () => bytes } },
  });
  const LOOK_UP = {
    tools: [{ type: 'custom', name: 'look_up', description: '', input_schema: {} }],
  } as const;

  it.each([
    ['of a message', base64('application/pdf'), {}],
    ['that is a file', named, upload('application/pdf')],
  ])('%s counts by its pages, not by its base64', async (_where, block, options) => {
    const bench = loopBench(options);
    const session = new FakeSession();
    session.message('before it');
    await bench.run(session);
    session.send({ type: 'user.message', content: [block] });
    await bench.run(session);
    session.message('What does it say?');
    await bench.run(session);
    expect(leftOut(session)).toEqual([]);
    expect(reasons(session)).toEqual(Array(3).fill('end_turn'));
  });

  it('of a result counts alike', async () => {
    const calls = { reply: { tool_calls: [{ name: 'look_up', arguments: {} }] } };
    const bench = loopBench({ rules: [{ match: { turn: 1 }, ...calls }] });
    const session = new FakeSession(LOOK_UP);
    session.message('Look.');
    await bench.run(session);
    session.send({
      type: 'user.custom_tool_result',
      custom_tool_use_id: session.of('agent.custom_tool_use')[0]!.id,
      content: [base64('application/pdf')],
    });
    await bench.run(session);
    session.message('What does it say?');
    await bench.run(session);
    expect(leftOut(session)).toEqual([]);
    expect(session.of('agent.message')).toHaveLength(2);
  });

  it.each([
    ['in base64', base64('text/plain'), {}],
    ['that is a file', named, upload('text/plain')],
  ])('of text %s counts by its length', async (_where, block, options) => {
    const bench = loopBench(options);
    const session = new FakeSession();
    session.send({ type: 'user.message', content: [block] });
    await bench.run(session);
    session.message('What does it say?');
    await bench.run(session);
    expect(leftOut(session)).toEqual([2]);
  });
});
