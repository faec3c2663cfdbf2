import { describe, expect, it } from 'vitest';
import { createJoinedReads } from '../../../src/console/api/join-reads.ts';
import type { Told } from '../../../src/console/api/join-reads.ts';

/** Answers what is asked with the words of it. */
function setUp() {
  const asked: { target: string; signal: AbortSignal }[] = [];
  const ask = async (target: string, signal: AbortSignal): Promise<Told> => {
    asked.push({ target, signal });
    const reads = new URLSearchParams(target.split('?')[1]).getAll('read');
    if (!target.startsWith('/together')) return { status: 200, body: target };
    return { status: 200, body: { data: reads.map((body) => ({ status: 200, body })) } };
  };
  return { asked, ask };
}

describe('reads of one breath', () => {
  it('are one request, and each has its own answer', async () => {
    const { asked, ask } = setUp();
    const read = createJoinedReads(ask);
    const told = await Promise.all([read('/v1/agents?limit=1&x=a b'), read('/v1/endpoints')]);
    expect(told.map(({ body }) => body)).toEqual(['/v1/agents?limit=1&x=a b', '/v1/endpoints']);
    expect(asked).toHaveLength(1);
    expect(await read('/v1/models')).toEqual({ status: 200, body: '/v1/models' });
    expect(asked[1]?.target).toBe('/v1/models');
  });

  it('are as many requests as it takes, where they are many', async () => {
    const { asked, ask } = setUp();
    const read = createJoinedReads(ask);
    const targets = Array.from({ length: 33 }, (_, index) => `/v1/sessions/${index}`);
    const told = await Promise.all(targets.map((target) => read(target)));
    expect(told.map(({ body }) => body)).toEqual(targets);
    expect(asked).toHaveLength(3);
  });

  it('all fail where the request does', async () => {
    const refused = { status: 401, body: { error: 'no' } };
    const read = createJoinedReads(async () => refused);
    expect(await Promise.all([read('/a'), read('/b')])).toEqual([refused, refused]);
    const broken = createJoinedReads(() => Promise.reject(new Error('gone')));
    const both = await Promise.allSettled([broken('/a'), broken('/b')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('go on where one of them is given up, and end where all are', async () => {
    const { asked, ask } = setUp();
    const read = createJoinedReads(async (target, signal) => {
      const told = await ask(target, signal);
      if (target.includes('slow'))
        await new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      return told;
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const gone = read('/a', AbortSignal.abort('left'));
    const kept = read('/b', first.signal);
    await expect(gone).rejects.toBe('left');
    expect((await kept).body).toBe('/b');
    const both = [read('/slow/1', first.signal), read('/slow/2', second.signal)];
    const settled = Promise.allSettled(both);
    await Promise.resolve();
    first.abort();
    await Promise.resolve();
    expect(asked.at(-1)?.signal.aborted).toBe(false);
    second.abort();
    expect(asked.at(-1)?.signal.aborted).toBe(true);
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
