import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { exitOf, EXIT } from '../../../src/cli/exit-codes.ts';
import { createOutput } from '../../../src/cli/output/output.ts';
import { createStyle, wantsColor } from '../../../src/cli/output/style.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';

function capture(format: 'text' | 'json', more = {}) {
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') =>
    Object.assign(new EventEmitter(), {
      write(text: string) {
        written[name] += text;
        return true;
      },
    });
  const style = createStyle(false);
  const options = {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    format,
    quiet: false,
    debug: false,
    onEvents: () => undefined,
  };
  return { written, output: createOutput({ ...options, style, errorStyle: style, ...more }) };
}

describe('output', () => {
  it(
    verifies('cli.output.stdout-only-result', 'keeps progress, warnings and failures off stdout'),
    async () => {
      const { written, output } = capture('text');
      output.note('working');
      output.warn('careful');
      await output.failure({ code: 'x', message: 'broken', hint: 'mend it', exitCode: 1 }, 's/v1');
      expect(written.stdout).toBe('');
      expect(written.stderr).toBe('working\nwarning: careful\nerror: broken\nhint: mend it\n');
    },
  );

  it('ends a text with a line end, and with no second one', async () => {
    const { written, output } = capture('text');
    for (const text of ['one', 'two\n', '', 'three']) await output.print(text);
    expect(written.stdout).toBe('one\ntwo\nthree\n');
  });

  it('says nothing of progress with --quiet', () => {
    const { written, output } = capture('text', { quiet: true });
    output.note('working');
    expect(written.stderr).toBe('');
  });

  it('puts result, warnings and error into one JSON document', async () => {
    const good = capture('json');
    good.output.warn('careful');
    await good.output.result({ data: { a: 1 }, text: 'a is 1' }, 'gateway.x/v1');
    expect(JSON.parse(good.written.stdout)).toEqual({
      schema: 'gateway.x/v1',
      ok: true,
      data: { a: 1 },
      warnings: ['careful'],
      error: null,
    });
    const bad = capture('json');
    await bad.output.failure(
      { code: 'not_found', message: 'no', status: 404, exitCode: 1 },
      'gateway.x/v1',
    );
    expect(JSON.parse(bad.written.stdout)).toEqual({
      schema: 'gateway.x/v1',
      ok: false,
      data: null,
      warnings: [],
      error: { code: 'not_found', message: 'no', hint: null, status: 404 },
    });
  });

  it(
    verifies(
      'cli.output.ndjson',
      'frames streams with a version line and an end line, events untouched',
    ),
    async () => {
      const { written, output } = capture('json');
      const writer = await output.events();
      await writer.write({ text: 'a', event: { z: 1, a: [1.5] } });
      await writer.end('error', { code: 'lost', message: 'gone', exitCode: 8 });
      expect(written.stdout.split('\n')).toEqual([
        '{"type":"version","version":1}',
        '{"type":"event","event":{"z":1,"a":[1.5]}}',
        '{"type":"end","reason":"error","error":{"code":"lost","message":"gone","hint":null,"status":null}}',
        '',
      ]);
    },
  );

  it('waits for a slow reader before it writes on', async () => {
    const stdout = Object.assign(new EventEmitter(), { write: () => false });
    const { output } = capture('text', { stdout });
    let done = false;
    const printing = output.print('x').then(() => (done = true));
    await Promise.resolve();
    expect(done).toBe(false);
    stdout.emit('drain');
    await printing;
  });

  it('lets no control character of others reach the terminal', async () => {
    const { written, output } = capture('text');
    const writer = await output.events();
    await writer.write({ text: 'a\u001b[2Jb\n\tc\u0007', event: {} });
    output.warn('x\u001b]0;title\u0007');
    expect(written.stdout).toBe('a[2Jb\n\tc');
    expect(written.stderr).toBe('warning: x]0;title\n');
  });

  it(
    verifies(
      'cli.output.tty',
      'colours on a terminal alone, and never against NO_COLOR, TERM=dumb, --no-color',
    ),
    async () => {
      const ask = (env: Record<string, string>, isTTY = true, off = false) =>
        wantsColor({ isTTY, env, off });
      expect(ask({})).toBe(true);
      expect(ask({}, false)).toBe(false);
      expect(ask({ NO_COLOR: '1' })).toBe(false);
      expect(ask({ TERM: 'dumb' })).toBe(false);
      expect(ask({}, true, true)).toBe(false);
      const colored = await runCli(['keyz'], { tty: true });
      expect(colored.stderr).toContain('\u001b[31merror');
      for (const run of [
        await runCli(['keyz', '--no-color'], { tty: true }),
        await runCli(['keyz'], { tty: true, env: { NO_COLOR: '1' } }),
        await runCli(['keyz'], { tty: true, env: { TERM: 'dumb' } }),
        await runCli(['keyz']),
      ]) {
        expect(run.stderr).not.toContain('\u001b');
      }
    },
  );
});

describe('exit codes', () => {
  it(verifies('cli.exit.table', 'are the published table'), async () => {
    expect(Object.values(EXIT).map(({ code }) => code)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 64, 130, 143,
    ]);
    const { code, stdout } = await runCli(['help', 'exit-codes']);
    expect(code).toBe(0);
    for (const { code: value, meaning } of Object.values(EXIT)) {
      expect(stdout).toMatch(
        new RegExp(`^ *${value}  ${meaning.replaceAll(/[()]/g, '\\$&')}$`, 'm'),
      );
    }
  });

  it('follow the HTTP status, else the kind of failure', () => {
    const exit = (status: number | undefined, code = 'x') => EXIT[exitOf({ status, code })].code;
    expect([400, 401, 402, 403, 404, 409, 429, 500, 504].map((status) => exit(status))).toEqual([
      1, 4, 1, 4, 1, 5, 1, 1, 8,
    ]);
    expect(
      ['unreachable', 'timeout', 'connection_lost', 'aborted'].map((code) => exit(undefined, code)),
    ).toEqual([1, 8, 8, 130]);
  });
});
