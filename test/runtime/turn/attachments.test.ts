import { describe, expect, it } from 'vitest';
import { FakeSession } from '../fake-log.ts';
import { checkLog } from '../log-laws.ts';
import { loopBench } from '../loop-bench.ts';

const IMAGE = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'aW1hZ2U=' },
};
const REFUSAL = { reply: { status: 400, error: { message: 'Could not process image' } } };
const LEFT_OUT = '(An attachment is left out: the request with it was refused.)';

const bodies = (bench: ReturnType<typeof loopBench>): string[] =>
  bench.engine.calls().map(({ body }) => body.toString());
const ends = (session: FakeSession) =>
  session.of('span.model_request_end').map((event) => event['attachments_refused']);

/** A turn whose image the provider refuses. */
async function refused(rules = [{ match: { times: 1 }, ...REFUSAL }]) {
  const bench = loopBench({ rules });
  const session = new FakeSession();
  session.send({ type: 'user.message', content: [{ type: 'text', text: 'Look.' }, IMAGE] });
  await bench.run(session);
  return { bench, session };
}

describe('an attachment that the provider refuses', () => {
  it('is told in words to those who are asked next, and the log keeps it', async () => {
    const { bench, session } = await refused();
    session.message('What now?');
    await bench.run(session);
    expect(ends(session)).toEqual([true, undefined]);
    const [first, second] = bodies(bench);
    expect(first).toContain(IMAGE.source.data);
    expect(second).not.toContain(IMAGE.source.data);
    for (const words of ['Look.', LEFT_OUT, 'What now?']) expect(second).toContain(words);
    expect(session.of('agent.message')).toHaveLength(1);
    expect(session.of('user.message')[0]).toMatchObject({ content: [{}, IMAGE] });
    checkLog(session.placed);
  });

  it('is told alike by whoever finds the log', async () => {
    const { session } = await refused();
    const heir = new FakeSession();
    heir.placed.push(...session.placed);
    heir.message('What now?');
    const bench = loopBench();
    await bench.run(heir);
    expect(bodies(bench)[0]).toContain(LEFT_OUT);
    expect(bodies(bench)[0]).not.toContain(IMAGE.source.data);
  });

  it('may be one of a result', async () => {
    const rules = [
      { match: { turn: 1, times: 1 }, reply: { tool_calls: [{ name: 'look', arguments: {} }] } },
      { match: { times: 1 }, ...REFUSAL },
    ];
    const bench = loopBench({ rules });
    const session = new FakeSession({
      tools: [{ type: 'custom', name: 'look', description: '', input_schema: {} }],
    });
    session.message('Look.');
    await bench.run(session);
    const custom_tool_use_id = session.of('agent.custom_tool_use')[0]!.id;
    session.send({ type: 'user.custom_tool_result', custom_tool_use_id, content: [IMAGE] });
    await bench.run(session);
    session.message('What now?');
    await bench.run(session);
    expect(ends(session)).toEqual([undefined, true, undefined]);
    expect(bodies(bench)[1]).toContain(IMAGE.source.data);
    expect(bodies(bench)[2]).toContain(LEFT_OUT);
    expect(bodies(bench)[2]).not.toContain(IMAGE.source.data);
    checkLog(session.placed);
  });

  it('stays where a request with it had an answer before', async () => {
    const rules = [
      { match: { turn: 1 }, reply: { text: 'An image.' } },
      { match: { turn: 2, times: 1 }, ...REFUSAL },
    ];
    const { bench, session } = await refused(rules as never);
    for (const text of ['And?', 'What now?']) {
      session.message(text);
      await bench.run(session);
    }
    expect(ends(session)).toEqual([undefined, undefined, undefined]);
    expect(bodies(bench)[2]).toContain(IMAGE.source.data);
  });
});
