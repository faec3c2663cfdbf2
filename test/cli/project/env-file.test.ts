import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { createFakeAdmin } from '../fake-admin.ts';
import { runCli } from '../run-cli.ts';

const CANARY = 'canary-secret-7f3a';
const CONFIG = `version: 1
providers:
  - { name: "\${env:NAME}", type: openai, api_key: "\${secret:env:KEY}" }
`;
/** No variable of these may come from a folder. */
const EVIL = 'GATEWAY_SERVER=http://127.0.0.1:9\nGATEWAY_API_KEY=sk-evil\nGATEWAY_CONTEXT=evil\n';

it(
  verifies('config.env-file', 'every command that reads the files takes it, and no address or key'),
  async () => {
    const cwd = await directoryOfTest();
    const server = await startFakeServer(createFakeAdmin().handler);
    onTestFinished(() => server.close());
    await writeFile(join(cwd, 'gateway.yaml'), CONFIG);
    await writeFile(join(cwd, '.env'), `NAME=named\nKEY=${CANARY}\n${EVIL}`);
    const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-x' };
    const run = (...argv: string[]) => runCli(argv, { cwd, env });
    const commands = [
      ['validate'],
      ['plan'],
      ['diff'],
      ['apply', '--yes'],
      ['drift'],
      ['adopt', '--yes'],
      ['delete', '--yes'],
      ['doctor', '--offline'],
      ['providers', 'create', 'other', '--kind', 'openai', '--api-key', 'env:KEY'],
    ];
    for (const argv of commands) {
      const { stdout, stderr, code } = await run(...argv);
      expect(stderr, argv.join(' ')).toMatch(/^from \.env: .*KEY/m);
      expect([0, 1], `${argv.join(' ')}: ${stderr}`).toContain(code);
      expect(stdout + stderr).not.toContain(CANARY);
    }
    const keys = new Set(server.calls.map(({ headers }) => headers['authorization']));
    expect([...keys]).toEqual(['Bearer sk-x']);
    const sent = server.calls.filter(({ method }) => method === 'POST');
    expect(sent.map(({ body }) => body.api_key)).toContain(CANARY);
    const off = { GATEWAY_NO_ENV_FILE: '1' };
    const without = [
      await runCli(['validate', '--no-env-file'], { cwd }),
      await runCli(['validate'], { cwd, env: off }),
    ];
    for (const { code, stdout } of without)
      expect([code, stdout]).toEqual([3, expect.stringContaining('NAME is not set\n')]);
  },
);

it('a plugin is not written among other files, unless it is asked for', async () => {
  const cwd = await directoryOfTest();
  await writeFile(join(cwd, 'notes.txt'), '');
  const refused = await runCli(['init', '-t', 'plugin'], { cwd });
  expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('plugin NAME')]);
  expect((await runCli(['init', '-t', 'plugin', '.'], { cwd })).code).toBe(0);
  const empty = await directoryOfTest();
  expect((await runCli(['init', '-t', 'plugin'], { cwd: empty })).code).toBe(0);
});
