import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import type { FakeServer, Handler } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { putCommand } from '../support/process/built-command.ts';
import type { PutCommand } from '../support/process/built-command.ts';
import { runCli } from './run-cli.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

const NAMES: Readonly<Record<string, object[]>> = {
  '/admin/v1/agents': [
    { id: 'agent_1', type: 'agent', name: 'helper' },
    { id: 'agent_2', type: 'agent', name: '$(touch owned)' },
    { id: 'agent_3', type: 'agent', name: '`touch owned`;x' },
    { id: 'two\nlines', type: 'agent', name: '-rf' },
  ],
  '/admin/v1/services': [{ id: 'ep_1', type: 'endpoint', name: 'The desk', slug: 'desk' }],
  '/admin/v1/keys': [{ id: 'key_1', type: 'api_key', name: 'laptop' }],
  '/v1/deployments': [
    { id: 'depl_1', type: 'deployment', name: 'report', status: 'active', created_at: 'x' },
  ],
  '/v1/models': [
    { id: 'acme/fast', object: 'model' },
    { id: 'acme/fast:free', object: 'model' },
    { id: 'other/slow', object: 'model' },
  ],
};
const answer: Handler = ({ path }) => ({ body: { data: NAMES[path] ?? [], next_page: null } });

let server: FakeServer;
beforeAll(async () => {
  server = await startFakeServer(answer);
});
afterAll(() => server.close());

/** Says nothing, for as long as it is let. */
async function startDeadServer(): Promise<string> {
  const dead = createServer(() => undefined);
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void dead.close());
  return `http://127.0.0.1:${(dead.address() as AddressInfo).port}`;
}

const keyed = (url: string) => ({ GATEWAY_SERVER: url, GATEWAY_API_KEY: 'sk-x' });

async function complete(words: string[], env: Record<string, string> = keyed(server.url)) {
  const { code, stdout, stderr } = await runCli(['complete-words', '--', ...words], { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion', () => {
  it(verifies('cli.misc-commands', 'offers the names that the gateway has'), async () => {
    expect(await complete(['agents', 'get', ''])).toEqual(['agent_2', 'agent_3', 'helper']);
    expect(await complete(['agents', 'get', 'he'])).toEqual(['helper']);
    expect(await complete(['agents', 'get', 'helper', ''])).toEqual([]);
    expect(await complete(['invoke', ''])).toEqual(['desk']);
    expect(await complete(['services', 'get', '-o', 'json', ''])).toEqual(['desk']);
    expect(await complete(['schedules', 'pause', ''])).toEqual(['report']);
    expect(await complete(['chat', 'acme/'])).toEqual(['acme/fast', 'acme/fast:free']);
    expect(await complete(['chat', 'acme/fast', ''])).toEqual([]);
    expect(await complete(['logs', '--key', ''])).toEqual(['laptop']);
    expect(await complete(['logs', '--key=la'])).toEqual(['--key=laptop']);
    expect(await complete(['keys', 'create', ''])).toEqual([]);
  });

  it('asks the server that the words name, and completes behind global flags', async () => {
    const env = { GATEWAY_API_KEY: 'sk-x' };
    expect(await complete(['--server', server.url, 'keys', 'revoke', ''], env)).toEqual(['laptop']);
    expect(await complete(['--server', 'http://x', 'keys', ''], env)).toContain('revoke');
    expect(await complete(['--output='], env)).toEqual(['--output=text', '--output=json']);
  });

  it('offers contexts without a server', async () => {
    const home = await emptyDirectory();
    await mkdir(join(home, 'gateway'));
    const contexts = [{ name: 'work', server: 'http://127.0.0.1:1' }];
    const file = JSON.stringify({ version: 1, current: null, contexts });
    await writeFile(join(home, 'gateway', 'contexts.yaml'), file, { mode: 0o600 });
    const env = { XDG_CONFIG_HOME: home };
    expect(await complete(['config', 'use-context', ''], env)).toEqual(['local', 'work']);
    expect(await complete(['keys', 'list', '--context', 'w'], env)).toEqual(['work']);
  });

  it('is in lines, whatever form the user reads', async () => {
    const env = { ...keyed(server.url), GATEWAY_OUTPUT: 'json' };
    expect(await complete(['agents', 'get', 'h'], env)).toEqual(['helper']);
    expect(await complete(['agents', 'g'], env)).toEqual(['get']);
  });

  it('is silent without a key, without a server, and soon when one says nothing', async () => {
    expect(await complete(['agents', 'get', ''], {})).toEqual([]);
    expect(await complete(['agents', 'get', ''], keyed('http://127.0.0.1:1'))).toEqual([]);
    const dead = keyed(await startDeadServer());
    const started = performance.now();
    expect(await complete(['agents', 'get', ''], dead)).toEqual([]);
    // Commands wait for a minute.
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

let programs = '';
let command: PutCommand;
beforeAll(async () => {
  programs = await emptyDirectory();
  command = await putCommand(programs);
});
afterAll(() => command.close());

/** Runs a script in a shell that finds `gateway`. */
async function inShell(shell: string, script: string) {
  const cwd = await emptyDirectory();
  const env = { ...keyed(server.url), HOME: cwd, PATH: `${programs}:${process.env['PATH']}` };
  const { stdout } = await execa(shell, ['-c', script], { cwd, env, extendEnv: false });
  return stdout.split('\n').filter((line) => line !== '');
}

const isThere = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

describe.skipIf(!isThere('bash'))('in bash', () => {
  /** What Tab offers at the end of a line; the words are split as bash does it. */
  const tab = (line: string) => {
    const words = line.split(/(?<=[:=])|(?=[:=])|\s/).filter((word) => word !== '');
    if (/\s$/.test(line)) words.push('');
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const script = `source <(gateway completion bash)
      COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1}
      _gateway
      printf '%s\\n' "\${COMPREPLY[@]}"
      ls && echo done`;
    return inShell('bash', script);
  };

  it(
    verifies('cli.misc-commands', 'completes commands, flags and names, and runs none of them'),
    async () => {
      expect(await tab('gateway ke')).toEqual(['keys', 'done']);
      expect(await tab('gateway keys create --sc')).toEqual(['--scope', 'done']);
      // `ls` shows nothing: no name was run.
      expect(await tab('gateway agents get ')).toEqual(['agent_2', 'agent_3', 'helper', 'done']);
    },
    60_000,
  );

  it('completes behind what bash takes for the end of a word', async () => {
    expect(await tab('gateway chat acme/fast:f')).toEqual(['free', 'done']);
    expect(await tab('gateway chat acme/fast:')).toEqual(['free', 'done']);
    expect(await tab('gateway --output=j')).toEqual(['json', 'done']);
  }, 60_000);
});

describe.skipIf(!isThere('zsh'))('in zsh', () => {
  it('completes commands and names', async () => {
    const script = `compdef() {}; compadd() { shift; print -l -- "\${(@P)1}" }; _files() {}
        source <(gateway completion zsh)
        words=(gateway agents get he); CURRENT=4; _gateway`;
    expect(await inShell('zsh', script)).toEqual(['helper']);
  }, 60_000);

  it('is taken up by the completion system of zsh', async () => {
    const script = `autoload -Uz compinit && compinit -u; source <(gateway completion zsh)
        print -r -- $_comps[gateway]`;
    expect(await inShell('zsh', script)).toEqual(['_gateway']);
  }, 60_000);
});

describe.skipIf(!isThere('fish'))('in fish', () => {
  it('completes commands and names', async () => {
    const script = `gateway completion fish | source; complete -C 'gateway agents get he'`;
    expect(await inShell('fish', script)).toEqual(['helper']);
  }, 60_000);
});
