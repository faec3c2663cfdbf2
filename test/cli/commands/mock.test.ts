import { EventEmitter } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../../src/config/read/init-template.ts';
import { STRICT_VENDORS } from '../../../src/providers/mock/strict/strict-vendors.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';

describe('mock', () => {
  it('answers until a signal, and then ends well', async () => {
    const signals = new EventEmitter();
    let answered: unknown;
    const run = await runCli(['mock', '--port', '0', '-o', 'json'], {
      signals,
      onStdout(text) {
        const line: { event?: { url: string } } = JSON.parse(text);
        if (line.event === undefined) return;
        void fetch(`${line.event.url}/v1/models`)
          .then((response) => (answered = response.status))
          .finally(() => signals.emit('SIGTERM'));
      },
    });
    expect(answered).toBe(200);
    expect(run.code).toBe(0);
    const lines = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(lines).toEqual(['version', 'event', 'end']);
  });

  it(verifies('mock.strict', 'refuses as the vendor of --strict does'), async () => {
    const signals = new EventEmitter();
    const ask = async (url: string): Promise<unknown> => {
      const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [] });
      const strict = JSON.stringify({ model: 'm', tool_choice: 'auto', messages: [] });
      const answers = await Promise.all([
        fetch(`${url}/v1/messages`, { method: 'POST', body }),
        fetch(`${url}/v1/chat/completions`, { method: 'POST', body: strict }),
      ]);
      return answers.map(({ status }) => status);
    };
    let answered: unknown;
    const run = await runCli(['mock', '--port', '0', '-o', 'json', '--strict', 'openai'], {
      signals,
      onStdout(text) {
        const { event }: { event?: { url: string } } = JSON.parse(text);
        if (!event) return;
        void ask(event.url)
          .then((statuses) => (answered = statuses))
          .finally(() => signals.emit('SIGTERM'));
      },
    });
    expect(run.code).toBe(0);
    expect(answered).toEqual([200, 400]);
  });

  it.each(STRICT_VENDORS)('offers --strict %s', async (vendor) => {
    const { stdout } = await runCli(['complete-words', '--', 'mock', '--strict', '']);
    expect(stdout.trimEnd().split('\n')).toContain(vendor);
  });

  it('refuses a cassette that it does not understand', async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, 'bad.yaml'), 'rules: 5');
    const run = await runCli(['mock', '--port', '0', '--cassette', 'bad.yaml'], { cwd });
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('bad.yaml: ');
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) =>
    (await runCli(['complete-words', '--', ...words])).stdout.trimEnd().split('\n');

  it('offers commands, subcommands, flags and choices', async () => {
    expect(await complete('ke')).toEqual(['keys']);
    expect(await complete('keys', '')).toEqual([
      'create',
      'list',
      'get',
      'update',
      'rotate',
      'revoke',
    ]);
    expect(await complete('keys', 'create', '--sc')).toEqual(['--scope']);
    expect(await complete('init', '--template', '')).toEqual([...TEMPLATES]);
    expect(await complete('-o', 'j')).toEqual(['json']);
    expect(await complete('complete')).toEqual(['']);
  });

  it('knows its shells', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout } = await runCli(['completion', shell]);
      expect(code).toBe(0);
      expect(stdout).toContain('complete-words');
    }
    expect((await runCli(['completion', 'tcsh'])).code).toBe(64);
  });
});

describe('help', () => {
  it('is shown for no words, --help, -h and help', async () => {
    const [first, ...others] = await Promise.all(
      [[], ['--help'], ['-h'], ['help']].map((argv) => runCli(argv)),
    );
    expect(first?.stdout).toContain('Usage: gateway <command>');
    for (const other of others) expect(other?.stdout).toBe(first?.stdout);
  });

  it('has pages on exit codes, environment and configuration', async () => {
    for (const topic of ['exit-codes', 'flags', 'env', 'config']) {
      expect((await runCli(['help', topic])).code).toBe(0);
      expect((await runCli(['help', topic, '--json'])).json().ok).toBe(true);
    }
    expect((await runCli(['help', 'nothing'])).code).toBe(64);
  });
});
