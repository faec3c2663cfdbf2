import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';

const BINARY = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));
const CACHE = process.env['CLIENTS'] ?? '';
const MODULES = join(CACHE, 'node_modules');
const SECRET = 'plover-and-xyzzy';
/** Each client, the program that needs no install script, and how it is asked once. */
const CLIENTS = [
  {
    name: 'claude',
    program: join(MODULES, `@anthropic-ai/claude-code-${platform()}-${arch()}/claude`),
    words: ['-p', 'Read note.txt'],
    tool: { name: 'Read', arguments: { file_path: 'FOLDER/note.txt' } },
    protocol: 'messages',
  },
  {
    name: 'codex',
    program: join(MODULES, '.bin/codex'),
    words: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'].concat(
      'Read note.txt',
    ),
    tool: { name: 'exec_command', arguments: { cmd: 'cat note.txt' } },
    protocol: 'responses',
  },
  {
    name: 'gemini',
    program: join(MODULES, '.bin/gemini'),
    words: ['--skip-trust', '-p', 'Read note.txt'],
    tool: { name: 'read_file', arguments: { file_path: 'note.txt' } },
    protocol: 'generate-content',
    trustsOnly: 'folders that nobody else may write to',
  },
  {
    name: 'opencode',
    program: join(MODULES, `opencode-${platform()}-${arch()}/bin/opencode`),
    words: ['run', 'Read note.txt'],
    tool: { name: 'read', arguments: { filePath: 'FOLDER/note.txt' } },
    protocol: 'chat',
  },
] as const;
/** The protocol of a provider that does not speak the client's. */
const OTHER = {
  chat: 'messages',
  messages: 'chat',
  responses: 'messages',
  'generate-content': 'chat',
};

let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  // Not below the folder for temporary files: what others may write to, some clients do not trust.
  folder = await mkdtemp(join(CACHE, 'home-'));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'work'));
  await writeFile(join(folder, 'work/note.txt'), `${SECRET}\n`);
  gateway = await startGateway(configuration());
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

function configuration() {
  const rules = CLIENTS.map(({ name, tool }) => ({
    match: { model: `${name}-*`, text: 'Read note.txt', turn: 1 },
    reply: {
      tool_calls: [
        JSON.parse(JSON.stringify(tool).replace('FOLDER', join(folder, 'work'))) as object,
      ],
    },
  }));
  return {
    providers: [{ name: 'mock', type: 'mock', mock: { rules } }],
    models: CLIENTS.flatMap(({ name, protocol }) => [
      { name: `${name}-native`, routes: [{ provider: 'mock', protocols: [protocol] }] },
      {
        name: `${name}-translated`,
        routes: [{ provider: 'mock', protocols: [OTHER[protocol]], mapping: 'translated' }],
      },
    ]),
  };
}

describe.each(CLIENTS)('$name', ({ name, program, words, ...more }) => {
  const isRefused = 'trustsOnly' in more && isOpen(CACHE);
  if (isRefused) console.warn(`NOT TESTED: ${name} trusts only ${more.trustsOnly}, not ${CACHE}`);
  // The script that installs them says which are missing.
  it.skipIf(isRefused || !existsSync(program)).each(inTurn(name, ['native', 'translated']))(
    verifies('connect.run', 'connect.carriers', 'holds a conversation with a tool call: %s'),
    async (way) => {
      await symlink(program, join(folder, 'bin', name)).catch(() => undefined);
      const connect = ['connect', name, '--model', `${name}-${way}`, '--run', '--'];
      const { code, output } = await run([...connect, ...words]);
      expect(output).toContain(SECRET);
      expect(code).toBe(0);
    },
  );
});

/** Others may write to the folder or to one above it. */
function isOpen(path: string): boolean {
  const isOwn = (statSync(path).mode & 0o022) === 0;
  return !isOwn || (dirname(path) !== path && isOpen(dirname(path)));
}

async function run(words: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [BINARY, ...words], {
    cwd: join(folder, 'work'),
    env: {
      HOME: folder,
      PATH: [process.env['CLIENTS_NODE'], join(folder, 'bin'), process.env['PATH']].join(':'),
      // It waits ten seconds and more for its vendor's list of models.
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      // Each start is one process in place of two.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GATEWAY_SERVER: gateway.url,
      GATEWAY_API_KEY: gateway.adminKey,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}
