import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ providers: [{ name: 'mock', type: 'mock' }] });
});
afterAll(() => gateway.stop());

async function apply(model: string, tty: boolean): Promise<CliRun> {
  const text = `version: 1\nmodels: [{ name: ${model}, routes: [{ provider: mock }] }]\n`;
  await writeFile(join(gateway.directory, 'own.yaml'), text);
  return runCli(['apply', '-f', 'own.yaml', '--yes', '--wait'], {
    cwd: gateway.directory,
    env: adminEnv(gateway),
    tty,
  });
}

describe('gateway apply --wait', () => {
  it(
    verifies('cli.apply.wait-progress', 'prints progress on a terminal, and nowhere else'),
    async () => {
      const shown = await apply('own/one', true);
      expect([shown.code, shown.stderr]).toEqual([
        0,
        expect.stringMatching(
          /^waiting until 1 are served: model own\/one\n(?:.*\n)*?everything is served$/m,
        ),
      ]);
      const piped = await apply('own/two', false);
      expect([piped.code, piped.stderr]).toEqual([0, expect.not.stringContaining('served')]);
      const idle = await apply('own/two', true);
      expect([idle.code, idle.stderr]).toEqual([0, expect.not.stringContaining('served')]);
    },
  );
});
