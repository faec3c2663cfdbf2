import { describe, expect, it } from 'vitest';
import { FakeSession } from './fake-log.ts';
import { fakeSkill, loopBench } from './loop-bench.ts';
import type { BenchOptions } from './loop-bench.ts';

const TOOL = 'gateway-skills__load_skill';
const TEA = fakeSkill('tea', 'Makes tea.\nAlso cold.', {
  'SKILL.md': '---\nname: tea\ndescription: Makes tea.\n---\n\nBoil water.\n',
  'kinds/green.md': 'At 80 degrees.',
  'pot.png': Buffer.from([0, 255, 13, 10]),
});
const AGENT = { skills: [{ type: 'custom', skill_id: 'skill_1', version: '1' }] } as const;

const calls = (...inputs: Record<string, string>[]): NonNullable<BenchOptions['rules']> => [
  {
    match: { turn: 1 },
    reply: { tool_calls: inputs.map((input) => ({ name: TOOL, arguments: input })) },
  },
];

interface Body {
  system: string;
  tools: { name: string; description: string }[];
}

async function read(...inputs: Record<string, string>[]) {
  const bench = loopBench({ rules: calls(...inputs), skills: [TEA] });
  const session = new FakeSession(AGENT);
  session.message('tea, please');
  await bench.run(session);
  const results = session.of('agent.mcp_tool_result').map((event) => ({
    text: (event['content'] as { text: string }[])[0]?.text,
    isError: event['is_error'],
  }));
  return { bench, session, results };
}

describe('the Skills of an Agent', () => {
  it('are told by name and description alone, with the tool that reads them', async () => {
    const { bench } = await read();
    const body = JSON.parse(bench.engine.calls()[0]?.body.toString() ?? '') as Body;
    expect(body.system).toMatch(/^Be brief\.\n\n# Skills\n/);
    expect(body.system).toContain(`\`${TOOL}\``);
    expect(body.system).toMatch(/\n- tea: Makes tea\. Also cold\.$/);
    expect(body.system).not.toContain('Boil water');
    expect(body.tools.map(({ name }) => name)).toEqual([TOOL]);
  });

  it('are read by a call in the log, that asks nobody', async () => {
    const { session, results } = await read({ name: 'tea' });
    expect(session.types).toEqual([
      'user.message',
      'session.status_running',
      'span.model_request_start',
      'agent.mcp_tool_use',
      'span.model_request_end',
      'agent.mcp_tool_result',
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
      'session.status_idle',
    ]);
    expect(session.of('agent.mcp_tool_use')).toMatchObject([
      { mcp_server_name: 'gateway-skills', name: 'load_skill', input: { name: 'tea' } },
    ]);
    expect(results).toEqual([
      {
        text: 'Boil water.\n\nFiles of this Skill:\n- kinds/green.md (14 bytes)\n- pot.png (4 bytes)',
        isError: false,
      },
    ]);
  });

  it('give their other files by path, and of binary ones the size', async () => {
    const { results } = await read(
      { name: 'tea', path: 'kinds/green.md' },
      { name: 'tea', path: './tea/kinds/green.md' },
      { name: 'tea', path: 'pot.png' },
      { name: 'tea', path: '../SKILL.md' },
      { name: 'coffee' },
    );
    const texts = results.map(({ text }) => text);
    expect(texts.filter((text) => text === 'At 80 degrees.')).toHaveLength(2);
    expect(texts).toContain('(binary, 4 bytes)');
    const failed = results.filter(({ isError }) => isError).map(({ text }) => text);
    expect(failed).toHaveLength(2);
    expect(failed).toContainEqual(expect.stringMatching(/no such file[^]*kinds\/green\.md/));
    expect(failed).toContainEqual(expect.stringMatching(/no such Skill.*tea/));
  });

  it('are read again after a crash in the middle of a call', async () => {
    const bench = loopBench({ rules: calls({ name: 'tea' }), skills: [TEA] });
    const session = new FakeSession(AGENT);
    session.message('tea, please');
    // The answer with the call is the second append of the loop, its result the third.
    session.dieAt({ at: 3, when: 'before' });
    expect(await bench.run(session)).toBe(true);
    expect(await bench.run(session)).toBe(false);
    expect(session.of('agent.mcp_tool_result')).toMatchObject([{ is_error: false }]);
  });

  it('are bounded: a long text is cut off, of many files some are named', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`f${index}.txt`, 'x']),
    );
    const main = `---\nname: tea\ndescription: Tea.\n---\n${'y'.repeat(300_000)}`;
    const big = fakeSkill('tea', 'Tea.', { 'SKILL.md': main });
    const many = fakeSkill('many', 'Many.', { 'SKILL.md': '', ...files });
    const bench = loopBench({
      rules: calls({ name: 'tea' }, { name: 'many' }),
      skills: [big, many],
    });
    const session = new FakeSession(AGENT);
    session.message('tea, please');
    await bench.run(session);
    const texts = session
      .of('agent.mcp_tool_result')
      .map(({ content }) => (content as { text: string }[])[0]?.text ?? '');
    expect(texts.some((text) => text.length < 263_000 && text.endsWith('(cut off)'))).toBe(true);
    expect(texts.some((text) => text.includes('and 50 more'))).toBe(true);
  });
});
