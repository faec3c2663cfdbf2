import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createSecretCommands,
  splitWords,
  type SecretCommandsOptions,
} from '../../../src/config/objects/secret-commands.ts';
import { verifies } from '../../requirements.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'secret-commands-')));

function commands(options: Partial<SecretCommandsOptions> = {}) {
  const notes: string[] = [];
  const made = createSecretCommands({
    allowed: ['all'],
    isOwnFile: true,
    env: process.env,
    isHidden: (name) => name.startsWith('GATEWAY_'),
    note: (line) => void notes.push(line),
    ...options,
  });
  return { notes, run: (name: string) => made.run({ name, directory }) };
}

const node = (script: string): string => `'${process.execPath}' -e '${script}'`;
const fault = (run: Promise<string>): Promise<string> =>
  run.then(
    (value) => `no fault: ${value}`,
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe('words', () => {
  it.each([
    ['op read op://Work/openai/key', ['op', 'read', 'op://Work/openai/key']],
    ['  pass\tshow\n a ', ['pass', 'show', 'a']],
    [`a 'b c' "d e" f\\ g`, ['a', 'b c', 'd e', 'f g']],
    [`a''b"c"'d' ""`, ['abcd', '']],
    [String.raw`"a\"b" "\\" "\n" '\'`, ['a"b', '\\', String.raw`\n`, '\\']],
    [`"$HOME" * ~ # {}`, ['$HOME', '*', '~', '#', '{}']],
  ])('of %s', (text, words) => {
    expect(splitWords(text)).toEqual({ words });
  });

  it.each([`a 'b`, `a "b`, 'a \\', '', '  ', "''"])('are refused in %j', (text) => {
    expect(splitWords(text).fault).toBeTypeOf('string');
  });

  it.each(['a\u001b[8mb', 'a\u0000b', 'a\u202eb'])(
    'are refused where %j cannot be seen',
    (text) => {
      expect(splitWords(text)).toEqual({ words: [], fault: 'it holds invisible characters' });
    },
  );

  it('keep what only a shell would understand, which is named', () => {
    expect(splitWords('cat key | base64 -d')).toEqual({
      words: ['cat', 'key', '|', 'base64', '-d'],
      shell: '|',
    });
    expect(splitWords(`a 'b|c' "d;e"`).shell).toBeUndefined();
  });
});

describe('a command', () => {
  it(
    verifies(
      'secrets.exec',
      'runs without a shell, in the folder of the file, and its output counts',
    ),
    async () => {
      const { run, notes } = commands();
      await expect(run(`printf '%s\\n\\n' '$HOME;a' | b`)).resolves.toBe('$HOME;a\n\n|\n\nb\n');
      await expect(run('pwd')).resolves.toBe(directory);
      expect(notes).toEqual([
        "ran printf for ${secret:exec:printf '%s\\n\\n' '$HOME;a' | b}",
        'ran pwd for ${secret:exec:pwd}',
      ]);
    },
  );

  it('runs once, however many secrets name it', async () => {
    const { run } = commands();
    const name = node('console.log(process.pid)');
    const [one, other] = await Promise.all([run(name), run(name)]);
    expect(one).toBe(other);
    expect(await commands().run(name)).not.toBe(one);
  });

  it(
    verifies('secrets.exec', 'gets the environment without keys of the gateway and their copies'),
    async () => {
      const { run } = commands({
        isHidden: (name) =>
          name.startsWith('GATEWAY_') || name === 'OPENAI_API_KEY' || name === 'N',
        env: {
          PATH: process.env['PATH'],
          VAULT_ADDR: 'https://vault',
          GATEWAY_MASTER_KEY: 'master-key',
          OPENAI_API_KEY: 'sk-canary-1',
          COPY: 'sk-canary-1',
          N: '1',
          CI: '1',
          UNSET: undefined,
        },
      });
      const names = JSON.parse(
        await run(node('console.log(JSON.stringify(process.env))')),
      ) as object;
      expect(Object.keys(names).sort()).toEqual(['CI', 'PATH', 'VAULT_ADDR']);
    },
  );

  it(
    verifies(
      'secrets.exec',
      'is ended with its children when it takes too long or prints too much',
    ),
    async () => {
      const file = join(directory, 'child');
      const { run } = commands({ timeoutMs: 300 });
      const children = `sh -c 'sleep 30 & echo $! > "${file}"; trap "" TERM; wait'`;
      await expect(fault(run(children))).resolves.toContain('sh gave no value within 0.3 s');
      const child = Number(readFileSync(file, 'utf8'));
      await expect.poll(() => isRunning(child)).toBe(false);
      await expect(fault(commands().run('yes'))).resolves.toContain(
        'yes printed more than 65536 bytes',
      );
    },
  );

  it(
    verifies('secrets.exec', 'that fails says why without a word of what it printed'),
    async () => {
      const { run } = commands();
      const shout = 'console.log("canary"); console.error("canary"); process.exit(3)';
      const text = await fault(run(node(shout)));
      expect(text).toContain('ended with exit code 3');
      expect(text).not.toContain('canary');
      await expect(fault(run('no-such-program'))).resolves.toContain(
        'is no program of this machine',
      );
      await expect(fault(run('true'))).resolves.toContain('printed nothing');
      await expect(fault(run(`printf '\\377'`))).resolves.toContain('no text in UTF-8');
      await expect(fault(run(`sh -c 'kill -9 $$'`))).resolves.toContain('by SIGKILL');
      await expect(fault(run(`echo ${'x'.repeat(3_000_000)}`))).resolves.toContain(
        'echo cannot be started (E2BIG)',
      );
    },
  );

  it('ends with the process that waits for it, and leaves nothing there', async () => {
    const before = process.listeners('exit');
    const { run, notes } = commands();
    const ended = fault(run('sleep 30'));
    await expect.poll(() => notes).toHaveLength(1);
    const added = process.listeners('exit').filter((one) => !before.includes(one));
    expect(added).toHaveLength(1);
    for (const end of added) end.call(process, 0);
    await expect(ended).resolves.toContain('by SIGKILL');
    expect(process.listeners('exit')).toEqual(before);
  });
});

describe('a program that the author of a proposal lays next to the file', () => {
  const folders = ['bin', '../node_modules/.bin'].map((one) => join(directory, 'project', one));
  const project = join(directory, 'project');
  const usual = process.env['PATH'] ?? '';
  const from = (path: string, isOwnFile = false): Promise<string> => {
    const options = { allowed: ['id'], isOwnFile, env: { PATH: path }, note: () => undefined };
    const made = createSecretCommands({ ...options, isHidden: () => false });
    return fault(made.run({ name: 'id -u', directory: project }));
  };
  beforeAll(() => {
    for (const folder of [project, ...folders]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'id'), '#!/bin/sh\necho laid\n', { mode: 0o755 });
    }
  });

  it(
    verifies('secrets.exec', 'is not the one that is allowed, wherever PATH finds it first'),
    async () => {
      const own = `no fault: ${process.getuid?.()}`;
      for (const first of ['.', '', 'bin', project, `${project}/`, ...folders])
        expect([first, await from(`${first}:${usual}`)]).toEqual([first, own]);
      expect(await from('.')).toBe(own);
      expect(await from(`bin:${usual}`, true)).toBe('no fault: laid');
      expect(await from(`${folders[1]}:/none`)).toContain(
        'id is no program of this machine; folders of PATH in that of the file',
      );
    },
  );
});

describe('a command that is not allowed', () => {
  it(verifies('secrets.exec', 'does not run, and the sentence says what to add'), async () => {
    const { run, notes } = commands({ allowed: ['pass show', 'echo'] });
    await expect(fault(run('vault kv get -field=key secret/openai'))).resolves.toBe(
      'SecretCommandError: this command may not run: add "vault kv get" to server.secrets.exec and start again, or add --allow-exec \'vault kv get\' (or set GATEWAY_ALLOW_EXEC)',
    );
    for (const name of ['pass', 'pass rm a', 'passshow a', '/bin/echo a', `"pass show" a`])
      await expect(fault(run(name))).resolves.toContain('may not run');
    await expect(run('echo pass')).resolves.toBe('pass');
    expect(notes).toEqual(['ran echo for ${secret:exec:echo pass}']);
  });

  it('names the flag alone where the file may not decide', async () => {
    const { run } = commands({ allowed: [], isOwnFile: false });
    await expect(fault(run('op read op://a/b'))).resolves.toMatch(
      /add --allow-exec 'op read' .*server\.secrets\.exec counts only for a gateway/,
    );
  });
});

/** False also for a process that has ended and waits for its parent. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
