import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import type { FakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { NASTY, UNPRINTABLE } from '../support/nasty-name.ts';
import { runCli } from './run-cli.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';
import type { CliRun } from './run-cli.ts';

const AT = '2026-11-21T10:00:00.000Z';
/** Anything that a server may answer, with bad names wherever a name may stand. */
const OBJECT = {
  id: 'x_1',
  name: NASTY,
  title: NASTY,
  display_name: NASTY,
  description: NASTY,
  slug: NASTY,
  type: 'x',
  object: 'x',
  owned_by: NASTY,
  created: 1,
  created_at: AT,
  updated_at: AT,
  at: AT,
  enabled: true,
  status: 'idle',
  organization: NASTY,
  key: NASTY,
  model: NASTY,
  surface: 'chat',
  cost: '0.00',
  result: 'ok',
  attempts: [{ provider: NASTY, outcome: NASTY, ms: 1 }],
  answered_by: { provider: NASTY, upstream_model: NASTY },
  agent: { id: NASTY, name: NASTY, version: 1 },
  deployment_id: NASTY,
  trigger_context: { type: 'manual' },
  session_id: null,
  error: { type: NASTY, message: NASTY },
  routes: [{ provider: NASTY, upstream_model: NASTY }],
  base_url: NASTY,
  provider_type: NASTY,
  protocols: ['rest'],
  agent_id: NASTY,
  scope: NASTY,
  scope_name: NASTY,
  secret_key: NASTY,
  value_hint: NASTY,
  failure_count: 0,
  usage: {},
  scopes: ['inference'],
};
/** A title and the one row. */
const LISTS = [
  ['models', 'list'],
  ['providers', 'list'],
  ['organizations', 'list'],
  ['keys', 'list'],
  ['apis', 'list'],
  ['agents', 'list'],
  ['skills', 'list'],
  ['sessions', 'list'],
  ['deployments', 'list'],
  ['services', 'list'],
  ['credentials', 'list'],
  ['runs', 'list'],
  ['files', 'list'],
];

let server: FakeServer | undefined;
afterEach(() => server?.close());

async function run(argv: string[], answer: object, tty = false): Promise<CliRun> {
  server = await startFakeServer(() => answer);
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test', NO_COLOR: '1' };
  return runCli(argv, { env, tty });
}

describe('names from elsewhere', () => {
  it.each(LISTS.map((argv) => [argv.join(' '), argv] as const))(
    verifies('output.names.no-bidi-or-breaks', '%s keeps each in its row'),
    async (_title, argv) => {
      const body = { data: [OBJECT, OBJECT], next_page: null };
      const { code, stdout, stderr } = await run([...argv], { body });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout.trimEnd().split('\n')).toHaveLength(3);
      expect(stdout).not.toMatch(UNPRINTABLE);
      await server?.close();
      const quiet = await run([...argv, '--quiet'], { body });
      expect(quiet.stdout.trimEnd().split('\n')).toHaveLength(2);
      expect(quiet.stdout).not.toMatch(UNPRINTABLE);
    },
  );

  it.each([
    ['organizations', 'get', 'x_1'],
    ['keys', 'get', 'x_1'],
    ['sessions', 'get', 'x_1'],
    ['runs', 'get', 'x_1'],
  ])(
    verifies('output.names.no-bidi-or-breaks', '%s %s shows no field that is none'),
    async (...argv) => {
      const body = { ...OBJECT, name: 'x', description: 'a\nid  faked' };
      const { stdout } = await run(argv, { body: { ...body, data: [body] } });
      expect(stdout).toContain('faked');
      expect(stdout).not.toMatch(/^id {2}faked/m);
      expect(stdout).not.toMatch(UNPRINTABLE);
    },
  );

  it(
    verifies('output.names.no-bidi-or-breaks', 'are escaped in JSON, and mean the same'),
    async () => {
      const { stdout, json } = await run(['models', 'list', '-o', 'json'], {
        body: { data: [OBJECT] },
      });
      expect(stdout).not.toMatch(UNPRINTABLE);
      expect(json().data[0].owned_by).toBe(NASTY);
    },
  );

  it(verifies('output.names.no-bidi-or-breaks', 'are harmless in errors and answers'), async () => {
    const refused = await run(['models', 'get', 'x'], {
      status: 409,
      body: { error: `no ${NASTY}` },
    });
    expect(refused.stderr).not.toMatch(UNPRINTABLE);
    expect(refused.stderr).toMatch(/^error: no ab\n {2}c/);
    await server?.close();
    const said = { choices: [{ message: { role: 'assistant', content: NASTY } }] };
    const chat = await run(['chat', 'm', 'hi', '--no-stream'], { body: said });
    expect(chat.stdout).toContain('ab\nc');
    expect(chat.stdout).not.toMatch(UNPRINTABLE);
  });

  it(
    verifies(
      'output.names.no-bidi-or-breaks',
      'stay in raw answers for pipes, but not on a terminal',
    ),
    async () => {
      const body = { name: 'a\u202eb' };
      const piped = await run(['api', 'GET', '/v1/x'], { body });
      expect(JSON.parse(piped.stdout)).toEqual(body);
      await server?.close();
      const shown = await run(['api', 'GET', '/v1/x'], { body }, true);
      expect(shown.stdout).toContain('"ab"');
    },
  );

  it(verifies('output.names.no-bidi-or-breaks', 'in files are told without them'), async () => {
    const cwd = await mkdtemp(join(await emptyDirectory(), 'files-'));
    const name = JSON.stringify(NASTY);
    await writeFile(
      join(cwd, 'gateway.yaml'),
      `version: 1\nmodels: [{ name: ${name}, nmae: 1 }]\n`,
    );
    for (const argv of [['validate'], ['validate', '-o', 'github'], ['doctor']]) {
      const { stdout, stderr } = await runCli(argv, { cwd, env: { HOME: cwd, NO_COLOR: '1' } });
      expect(stdout + stderr).toContain('models');
      expect(stdout + stderr).not.toMatch(UNPRINTABLE);
    }
  });
});
