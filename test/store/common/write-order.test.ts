import { describe, expect, it } from 'vitest';
import { WriteOrder } from '../../../src/store/write-order.ts';
import { createGate, type Gate } from '../support/gate.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** An order whose writes end as the test lets them; `log` tells what was handed over. */
function setUp() {
  const log: string[] = [];
  const writing = new Map<string, Gate<string>>();
  const order = new WriteOrder(() => undefined);
  const write = (name: string): Promise<string> => {
    log.push(name);
    const gate = createGate<string>();
    writing.set(name, gate);
    return gate.promise;
  };
  const run = (name: string, prepared?: Promise<string>): Promise<string> =>
    order.run({ prepare: () => prepared ?? name, write });
  const end = async (name: string): Promise<void> => {
    writing.get(name)?.resolve(`${name} written`);
    await turn();
  };
  return { order, log, run, end, writing };
}

describe('the order of writes', () => {
  it('hands over at once what is prepared at once', async () => {
    const { log, run, end } = setUp();
    const [first, second] = [run('a'), run('b')];
    expect(log).toEqual(['a', 'b']);
    await end('b');
    await end('a');
    expect(await Promise.all([first, second])).toEqual(['a written', 'b written']);
  });

  it('keeps everything behind one that takes turns until that one is written', async () => {
    const { log, run, end } = setUp();
    const preparing = createGate<string>();
    const all = [run('long', preparing.promise), run('b'), run('c')];
    await turn();
    expect(log).toEqual([]);
    preparing.resolve('long');
    await turn();
    expect(log).toEqual(['long']);
    await end('long');
    // Those behind are handed over one after the other, before any of them is written.
    expect(log).toEqual(['long', 'b', 'c']);
    await end('c');
    await end('b');
    expect(await Promise.all(all)).toEqual(['long written', 'b written', 'c written']);
  });

  it('lets a long one wait for a long one, however fast it is prepared', async () => {
    const { log, run, end } = setUp();
    const preparing = createGate<string>();
    const all = [run('a', preparing.promise), run('b', Promise.resolve('b'))];
    await turn();
    expect(log).toEqual([]);
    preparing.resolve('a');
    await turn();
    expect(log).toEqual(['a']);
    await end('a');
    expect(log).toEqual(['a', 'b']);
    await end('b');
    await Promise.all(all);
  });

  it('hands over at once again when nothing waits any more', async () => {
    const { log, run, end } = setUp();
    const long = run('long', Promise.resolve('long'));
    await turn();
    await end('long');
    await long;
    const next = run('next');
    expect(log).toEqual(['long', 'next']);
    await end('next');
    await next;
  });

  it('goes on behind a write that could not be prepared or written', async () => {
    const { log, run, end, writing, order } = setUp();
    const broken = run('broken', Promise.reject(new Error('too large')));
    const lost = run('lost', Promise.resolve('lost'));
    const next = run('next');
    await expect(broken).rejects.toThrow('too large');
    await turn();
    expect(log).toEqual(['lost']);
    writing.get('lost')?.reject(new Error('no disk'));
    await expect(lost).rejects.toThrow('no disk');
    await turn();
    await end('next');
    expect(await next).toBe('next written');
    const thrown = order.run({
      prepare: () => {
        throw new Error('bad key');
      },
      write: async () => undefined,
    });
    await expect(thrown).rejects.toThrow('bad key');
  });

  it('prepares nothing once the store is closed', async () => {
    const order = new WriteOrder(() => {
      throw new Error('closed');
    });
    let isPrepared = false;
    const prepare = (): void => void (isPrepared = true);
    await expect(order.run({ prepare, write: async () => undefined })).rejects.toThrow('closed');
    expect(isPrepared).toBe(false);
    await order.idle();
  });

  it('is idle when the last write has ended, not before', async () => {
    const { order, run, end } = setUp();
    await order.idle();
    const all = [run('a'), run('b')];
    let waiting = 2;
    const idle = [order.idle(), order.idle()].map((one) => one.then(() => waiting--));
    await end('a');
    expect(waiting).toBe(2);
    await end('b');
    await Promise.all([...all, ...idle]);
    expect(waiting).toBe(0);
  });
});
