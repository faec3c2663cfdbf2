import { describe, expect, it } from 'vitest';
import { listTools } from '../../../src/runtime/tools/list-tools.ts';

const OBJECT = { type: 'object' };
const tool = (name: string, rest: object = {}) => ({ name, inputSchema: OBJECT, ...rest });

/** A server that answers with these pages, the last one for good, each naming the next. */
function serve(pages: readonly (readonly unknown[])[], isEndless = false) {
  const asked: unknown[] = [];
  const source = {
    hasParamHeaders: false,
    ask: async (params: { readonly cursor?: string }) => {
      const at = asked.length;
      asked.push(params.cursor);
      const isLast = at >= pages.length - 1;
      const tools = pages[Math.min(at, pages.length - 1)];
      return { tools, nextCursor: isLast && !isEndless ? undefined : `page ${at + 1}` };
    },
  };
  return { source, asked };
}

const listed = async (...pages: readonly unknown[][]) =>
  (await listTools(serve(pages).source)).tools;

describe('the tools of a server', () => {
  it('are read page by page', async () => {
    const { source, asked } = serve([[tool('a')], [tool('b')], [tool('c')]]);
    const { tools } = await listTools(source);
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual([undefined, 'page 1', 'page 2']);
  });

  it('are known by what the server says of them', async () => {
    const annotations = { readOnlyHint: true, idempotentHint: true };
    expect(await listed([tool('a', { description: 'finds', annotations }), tool('b')])).toEqual([
      {
        name: 'a',
        description: 'finds',
        inputSchema: OBJECT,
        isReadOnly: true,
        isIdempotent: true,
        refusal: undefined,
      },
      {
        name: 'b',
        description: undefined,
        inputSchema: OBJECT,
        isReadOnly: false,
        isIdempotent: false,
        refusal: undefined,
      },
    ]);
  });

  it('are at most 256, of at most 32 pages', async () => {
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => tool(`t${from + index}`));
    expect(await listed(many(0, 300))).toHaveLength(256);
    expect(await listed(many(0, 200), many(200, 200), many(400, 9))).toHaveLength(256);
    const endless = serve([[]], true);
    expect((await listTools(endless.source)).tools).toEqual([]);
    expect(endless.asked).toHaveLength(32);
  });

  it.each([
    [tool('a', { inputSchema: { type: 'string' } }), 'its input schema is not that of an object'],
    [{ name: 'a' }, 'its input schema is not that of an object'],
    [null, 'its input schema is not that of an object'],
    [tool('a', { description: 1 }), 'it is not described as the protocol has it'],
    [{ inputSchema: OBJECT }, 'it is not described as the protocol has it'],
    [tool(''), 'its name is too long or empty'],
    [tool('x'.repeat(129)), 'its name is too long or empty'],
    [
      tool('a', { inputSchema: { ...OBJECT, description: 'x'.repeat(64 * 1024) } }),
      'its input schema is too large',
    ],
  ])('are refused with their reason, behind those that are offered', async (wrong, refusal) => {
    const tools = await listed([wrong, tool('good')]);
    expect(tools.map((one) => one.refusal)).toEqual([undefined, refusal]);
  });

  it('have each its own name: the first one counts', async () => {
    const [first, second] = await listed([tool('a', { description: '1' })], [tool('a')]);
    expect(first).toMatchObject({ description: '1', refusal: undefined });
    expect(second?.refusal).toBe('another one of the server has its name');
  });

  it('may have names of 128 characters, and descriptions that are cut', async () => {
    const description = 'x'.repeat(16 * 1024 + 1);
    const [found] = await listed([tool('x'.repeat(128), { description })]);
    expect(found?.refusal).toBeUndefined();
    expect(found?.description).toHaveLength(16 * 1024);
  });
});
