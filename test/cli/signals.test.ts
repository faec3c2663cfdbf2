import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { watchSignals } from '../../src/cli/signals.ts';
import { startFakeServer } from '../client/fake-server.ts';
import type { FakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { runCli } from './run-cli.ts';

let server: FakeServer | undefined;
afterEach(() => server?.close());

/** Follows a Session of which nothing is heard. */
async function follow(
  words: string[],
  env: Record<string, string> = {},
  { signals, stopMs = 400 }: { signals?: EventEmitter; stopMs?: number } = {},
) {
  server = await startFakeServer(({ path }, response) => {
    const at = '2026-11-21T10:00:00.000Z';
    if (path === '/v1/sessions/sess_1')
      return { body: { id: 'sess_1', status: 'running', created_at: at } };
    if (path.endsWith('/events')) return { body: { data: [], next_page: null } };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': nothing\n\n');
    setTimeout(() => signals?.emit('SIGINT'), stopMs);
    return undefined;
  });
  const all = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test', ...env };
  const argv = ['sessions', 'tail', 'sess_1', ...words];
  return runCli(argv, { env: all, ...(signals && { signals }) });
}

describe('--timeout', () => {
  it(
    verifies('cli.timeout', 'ends what follows a stream, with a sentence and exit 8'),
    async () => {
      const { code, stderr } = await follow(['--timeout', '200ms']);
      expect(code).toBe(8);
      expect(stderr).toContain('error: gave up after 0.2 s, as --timeout says\nhint: ');
      const json = await follow(['--timeout', '200ms', '-o', 'json']);
      expect(json.code).toBe(8);
      expect(JSON.parse(json.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        type: 'end',
        error: { code: 'timeout', message: 'gave up after 0.2 s, as --timeout says' },
      });
    },
  );

  it(
    verifies(
      'cli.timeout',
      'leaves Ctrl-C its own exit code, and of the environment ends no stream',
    ),
    async () => {
      const signals = new EventEmitter();
      // Later than the end of that time would be.
      const stopMs = 200 + 1_000 + 100;
      const stopped = await follow([], { GATEWAY_TIMEOUT: '200ms' }, { signals, stopMs });
      expect(stopped.code).toBe(130);
      expect(stopped.stderr).toContain('interrupted');
    },
  );

  it(
    verifies('cli.timeout', 'of the environment ends what has an end of its own; this has none'),
    () => {
      const endless = COMMANDS.flatMap(({ name, endless: when }) => {
        if (when === undefined) return [];
        if (when === true) return [name];
        return 'with' in when
          ? when.with.map((flag) => `${name} --${flag}`)
          : [`${name} without ${when.without}`];
      });
      const answers = ['allow', 'deny', 'answer', 'send', 'interrupt'].flatMap((word) => [
        `sessions ${word} --follow`,
        `sessions ${word} --tail`,
      ]);
      expect(endless.toSorted()).toEqual(
        [
          ...answers,
          'agents chat without message',
          'audit --follow',
          'chat without prompt',
          'connect --run',
          'invoke --follow',
          'login',
          'logs --follow',
          'runs watch',
          'services chat without message',
          'sessions tail',
          'tail',
          'trigger --tail',
        ].toSorted(),
      );
    },
  );
});

describe('the signals of a command', () => {
  const watch = (limitMs?: number) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const signals = new EventEmitter();
    const exit = vi.fn();
    return {
      ...watchSignals({ signals, exit }, limitMs),
      emit: (name: string) => signals.emit(name),
      exit,
    };
  };
  const interrupted = { code: 'interrupted', message: 'interrupted', exitCode: 130 };

  it('are those of its time as well, a little after it, so that its own words come first', async () => {
    const { signal, exitCode, rename, emit, exit } = watch(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect({ aborted: signal.aborted, exitCode: exitCode() }).toEqual({
      aborted: false,
      exitCode: undefined,
    });
    expect(rename(interrupted)).toBe(interrupted);
    await vi.advanceTimersByTimeAsync(1_000);
    expect({ aborted: signal.aborted, exitCode: exitCode() }).toEqual({
      aborted: true,
      exitCode: 8,
    });
    expect(rename(interrupted)).toMatchObject({ code: 'timeout', exitCode: 8 });
    const other = { code: 'not_found', message: 'gone', exitCode: 1 };
    expect(rename(other)).toBe(other);
    emit('SIGINT');
    expect(exit).toHaveBeenCalledWith(130);
  });

  it('leave a command that does not end by itself', async () => {
    const { stuck, isStuck } = watch(1_000);
    const left = expect(stuck).rejects.toMatchObject({ code: 'timeout', exitCode: 8 });
    await vi.advanceTimersByTimeAsync(3_999);
    expect(isStuck()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await left;
    expect(isStuck()).toBe(true);
  });

  it('give it all the time where none is named, and after the first of them', async () => {
    const free = watch();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(free.signal.aborted).toBe(false);
    free.dispose();
    const stopped = watch(1_000);
    stopped.emit('SIGTERM');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(stopped.exitCode()).toBe(143);
    expect(stopped.rename(interrupted)).toBe(interrupted);
  });
});
