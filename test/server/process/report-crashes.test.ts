import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { reportCrashes } from '../../../src/server/process/report-crashes.ts';
import type { CrashReports } from '../../../src/server/process/report-crashes.ts';

type Listener = (thrown: unknown, origin?: string) => void;
interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What the process would end with, thrown in place of the end. */
class Exit extends Error {}

describe('a fault that nothing caught', () => {
  let lines: Line[];
  let flushed: number;
  let crashes: CrashReports;
  let exit: ReturnType<typeof vi.spyOn>;
  let onException: Listener;
  let onRejection: Listener;

  const listenersOf = (event: string): Listener[] =>
    process.listeners(event as 'uncaughtException') as Listener[];
  const fresh = (event: string, before: readonly Listener[]): Listener => {
    const [listener] = listenersOf(event).filter((one) => !before.includes(one));
    if (!listener) throw new Error(`nothing listens to ${event}`);
    return listener;
  };

  beforeEach(() => {
    lines = [];
    flushed = 0;
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Exit(String(code));
    });
    const log = {
      error: (message: string, fields: Line['fields']) => void lines.push({ message, fields }),
      flush: () => void flushed++,
    } as unknown as Log;
    const before = ['uncaughtException', 'unhandledRejection'].map(listenersOf);
    crashes = reportCrashes(log);
    onException = fresh('uncaughtException', before[0] ?? []);
    onRejection = fresh('unhandledRejection', before[1] ?? []);
  });
  afterEach(() => {
    crashes.stop();
    exit.mockRestore();
    vi.useRealTimers();
  });

  it('ends the process at once while nobody asks, its line written', () => {
    const fault = new TypeError('no such thing');
    expect(() => onException(fault, 'uncaughtException')).toThrow(Exit);
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
    expect(lines).toEqual([
      {
        message: 'ended by a fault that nothing caught',
        fields: {
          origin: 'uncaughtException',
          reason: 'no such thing',
          stack: expect.stringMatching(/^ {4}at .*report-crashes\.test\.ts/),
        },
      },
    ]);
    expect(flushed).toBe(1);
  });

  it('lets who asks stop serving, for up to ten seconds', async () => {
    const until = crashes.untilCrashed();
    expect(crashes.isCrashed).toBe(false);
    onException(new Error('a'), 'uncaughtException');
    await until;
    expect(crashes.isCrashed).toBe(true);
    vi.advanceTimersByTime(9_999);
    expect(exit).not.toHaveBeenCalled();
    expect(() => vi.advanceTimersByTime(1)).toThrow(Exit);
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
  });

  it('ends the process at once when it is the second', () => {
    void crashes.untilCrashed();
    onException(new Error('a'), 'uncaughtException');
    expect(() => onException(new Error('b'), 'uncaughtException')).toThrow(Exit);
    expect(lines).toHaveLength(2);
    vi.clearAllTimers();
  });

  it('ends nothing where it is a rejection, which is counted', () => {
    let counted = 0;
    onRejection(new Error('a'));
    crashes.onRejection(() => void counted++);
    onRejection(new Error('b'));
    expect(counted).toBe(1);
    expect(crashes.isCrashed).toBe(false);
    expect(exit).not.toHaveBeenCalled();
    expect(lines[1]).toMatchObject({
      message: 'a promise failed that nothing waited for',
      fields: { origin: 'unhandledRejection', reason: 'b' },
    });
    expect(flushed).toBe(2);
  });

  it('is told without members and without secrets', () => {
    const fault = Object.assign(new Error('connect to redis://u:sesame@db failed'), {
      password: 'sesame',
    });
    onRejection(fault);
    expect(JSON.stringify(lines)).not.toContain('sesame');
    expect(lines[0]?.fields['reason']).toBe('connect to [url] failed');
  });

  it('is told with the frames of its stack alone', () => {
    const fault = new Error('one\nsesame');
    fault.stack = 'Error: one\nsesame\n    at here (a.ts:1:2)\n  at odd\n    at there';
    onRejection(fault);
    expect(lines[0]?.fields['stack']).toBe('    at here (a.ts:1:2)\n    at there');
  });

  it.each([
    ['a text', 'a text'],
    [7, '7'],
    [undefined, 'undefined'],
    [Object.create(null), 'a value without a text'],
  ])('may be no error: %s', (thrown, reason) => {
    onRejection(thrown);
    expect(lines[0]?.fields).toEqual({ origin: 'unhandledRejection', reason, stack: '' });
  });

  it('may be an error without a stack', () => {
    const fault = new Error('a');
    delete fault.stack;
    onRejection(fault);
    expect(lines[0]?.fields).toMatchObject({ reason: 'a', stack: '' });
  });

  it('is nobody’s to report once that stopped', () => {
    crashes.stop();
    expect(listenersOf('uncaughtException')).not.toContain(onException);
    expect(listenersOf('unhandledRejection')).not.toContain(onRejection);
  });
});
