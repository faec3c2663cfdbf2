import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createOutput } from '../../../src/cli/output/output.ts';
import { showEvents } from '../../../src/cli/waiting/show-events.ts';
import type { ShowOptions, ShownEnd } from '../../../src/cli/waiting/show-events.ts';
import { createStyle } from '../../../src/cli/output/style.ts';
import { ClientError } from '../../../src/client/http/client-error.ts';
import { verifies } from '../../requirements.ts';

async function show(
  end: ShownEnd | Error,
  {
    format = 'text',
    isAwaited = true,
    findWait,
  }: Partial<Pick<ShowOptions<string>, 'isAwaited' | 'findWait'>> & {
    format?: 'text' | 'json';
  } = {},
) {
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') =>
    Object.assign(new EventEmitter(), {
      write(text: string) {
        written[name] += text;
        return true;
      },
    });
  const style = createStyle(false);
  const output = createOutput({
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    format,
    quiet: false,
    debug: false,
    style,
    errorStyle: style,
    onEvents: () => undefined,
  });
  async function* events(): AsyncGenerator<string, ShownEnd, undefined> {
    yield 'one';
    if (end instanceof Error) throw end;
    return end;
  }
  const { exitCode } = await showEvents(events(), {
    output,
    textOf: (event) => `${event}\n`,
    isAwaited,
    findWait,
  });
  return { exitCode, ...written };
}

describe('showEvents', () => {
  it(
    verifies('cli.tail.reconnect', 'exits 8 and says so when what is followed was given up'),
    async () => {
      const lost = new ClientError({ code: 'connection_lost', message: 'the stream is lost' });
      const { exitCode, stdout, stderr } = await show(lost);
      expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: 'one\n' });
      expect(stderr).toContain('error: the stream is lost');
      const json = await show(lost, { format: 'json' });
      expect(json.exitCode).toBe(8);
      expect(JSON.parse(json.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        type: 'end',
        reason: 'error',
        error: { code: 'connection_lost' },
      });
    },
  );

  it.each(['end_turn', 'refusal'])('takes %s for a good end', async (type) => {
    expect((await show({ type })).exitCode).toBe(0);
  });

  it(
    verifies('sessions.waiting', 'says what the Session waits for, and exits 7, if it was awaited'),
    async () => {
      const end = { type: 'requires_action' };
      const found = { code: 'session_waiting', message: 'it waits', hint: 'allow', exitCode: 7 };
      const awaited = await show(end, { findWait: async () => found });
      expect(awaited).toEqual({
        exitCode: 7,
        stdout: 'one\n',
        stderr: 'error: it waits\nhint: allow\n',
      });
      expect((await show(end)).stderr).toContain('waits for an answer of its client');
      expect(await show(end, { isAwaited: false })).toMatchObject({ exitCode: 0, stderr: '' });
    },
  );

  it.each(['retries_exhausted', 'terminated', 'deleted', 'something_new'])(
    'takes %s for a failure, if the end was waited for',
    async (type) => {
      const error = { message: 'no luck' };
      const awaited = await show({ type, error });
      expect(awaited).toMatchObject({ exitCode: 7, stdout: 'one\n' });
      expect(awaited.stderr).toContain(`${type}: no luck`);
      expect(await show({ type, error }, { isAwaited: false })).toMatchObject({
        exitCode: 0,
        stderr: '',
      });
    },
  );
});
