import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeServer, startFakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { createFakeAdmin } from '../fake-admin.ts';
import { runCli } from '../run-cli.ts';

const CANARY = 'canary-secret-7f3a';
const COMMAND = `sh print.sh openai`;
const CONFIG = `version: 1
server: { secrets: { exec: [all] } }
providers:
  - { name: one, type: openai, api_key: '\${secret:exec:${COMMAND}}' }
  - { name: two, type: openai, api_key: '\${secret:exec:${COMMAND}}' }
`;

let cwd: string;
let server: FakeServer;
beforeEach(async () => {
  [cwd, server] = await Promise.all([emptyDirectory(), startFakeServer(createFakeAdmin().handler)]);
  await writeFile(join(cwd, 'print.sh'), `echo "$1" >> ran; echo ${CANARY}; echo ${CANARY} >&2\n`);
  await writeFile(join(cwd, 'gateway.yaml'), CONFIG);
});
afterEach(() => server.close());

function run(argv: string[], env: Record<string, string> = {}) {
  const base = {
    PATH: process.env['PATH'] ?? '',
    GATEWAY_SERVER: server.url,
    GATEWAY_API_KEY: 'k',
  };
  return runCli(argv, { cwd, env: { ...base, ...env } });
}

/** Number of times that the command has run. */
async function runs(): Promise<number> {
  const text = await readFile(join(cwd, 'ran'), 'utf8').catch(() => '');
  return text.split('\n').length - 1;
}

describe('commands of secrets', () => {
  it(
    verifies('secrets.exec', 'run for no validate, and for nothing that the file alone allows'),
    async () => {
      await writeFile(join(cwd, '.env'), 'GATEWAY_ALLOW_EXEC=all\n');
      expect((await run(['validate'], { GATEWAY_ALLOW_EXEC: 'all' })).code).toBe(0);
      for (const name of ['plan', 'diff', 'drift']) {
        const { code, stderr } = await run([name]);
        expect([name, code]).toEqual([name, 0]);
        expect(stderr).toContain(
          `\${secret:exec:${COMMAND}}: this command may not run: add --allow-exec 'sh print.sh' `,
        );
        expect(stderr).toContain('server.secrets.exec counts only for a gateway that starts');
        expect(stderr.split('may not run')).toHaveLength(2);
      }
      const applied = await run(['apply', '--yes']);
      expect(applied.code).toBe(3);
      expect(applied.stderr).toContain("add --allow-exec 'sh print.sh' ");
      const other = await run(['apply', '--yes', '--allow-exec', 'sh other.sh']);
      expect(other.code).toBe(3);
      expect(await runs()).toBe(0);
      expect(server.calls.some(({ method }) => method === 'POST')).toBe(false);
    },
  );

  it(
    verifies(
      'secrets.exec',
      'run once each where a flag or variable allows them, without a value shown',
    ),
    async () => {
      const planned = await run(['plan', '--allow-exec', 'sh print.sh', '--out', 'plan.json']);
      expect(planned.stderr).toContain(`ran sh for \${secret:exec:${COMMAND}}`);
      expect(planned.stderr).toContain("--allow-exec 'sh print.sh'");
      expect(await runs()).toBe(1);
      const applied = await run(['apply', '--plan', 'plan.json', '-o', 'json'], {
        GATEWAY_ALLOW_EXEC: 'op, sh print.sh',
      });
      expect(applied.code).toBe(0);
      expect(await runs()).toBe(2);
      const made = server.calls.filter(
        ({ method, path }) => method === 'POST' && path.endsWith('/providers'),
      );
      expect(made.map(({ body }) => body.api_key)).toEqual([CANARY, CANARY]);
      const again = await run(['plan', '--all', '--allow-exec', 'all']);
      const saved = await readFile(join(cwd, 'plan.json'), 'utf8');
      const shown = [planned, applied, again].map(({ stdout, stderr }) => stdout + stderr).join();
      expect(shown + saved).not.toContain(CANARY);
    },
  );

  it('are refused for one object, and where no shell would understand them', async () => {
    const entry = `name: three\ntype: openai\napi_key: \${secret:exec:${COMMAND}}\n`;
    await writeFile(join(cwd, 'three.yaml'), entry);
    const created = await run(['providers', 'create', '-f', 'three.yaml'], {
      GATEWAY_ALLOW_EXEC: 'all',
    });
    expect([created.code, await runs()]).toEqual([3, 0]);
    expect(created.stderr).toContain('no command runs here');
    await writeFile(join(cwd, 'gateway.yaml'), CONFIG.replaceAll(COMMAND, `sh "print.sh`));
    const open = await run(['validate']);
    expect([open.code, open.stdout]).toMatchObject([
      3,
      expect.stringContaining('a quote or backslash has no end'),
    ]);
    await writeFile(join(cwd, 'gateway.yaml'), CONFIG.replaceAll(COMMAND, `cat key | tail -1`));
    const piped = await run(['validate']);
    expect([piped.code, piped.stdout]).toMatchObject([
      0,
      expect.stringContaining('so | is a plain character'),
    ]);
    await writeFile(join(cwd, 'gateway.yaml'), CONFIG.replace('[all]', `['']`));
    expect((await run(['validate'])).stdout).toContain('expected the first words of a command');
  });
});
