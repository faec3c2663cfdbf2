import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkFileLimit } from '../../src/cli/local/health-checks.ts';
import { verifies } from '../requirements.ts';
import { BINARY, writeConfig } from '../support/gateway.ts';
import { directoryOfTest } from '../support/process/directory-of-test.ts';

interface Finding {
  name: string;
  state: string;
  message: string;
}

/** Runs `gateway doctor` in a process that may have so many files open. */
function doctor(cwd: string, files: number): Promise<Finding | undefined> {
  const script = `ulimit -n ${files} && exec "$0" "$@"`;
  const command = [process.execPath, BINARY, 'doctor', '--offline', '--json'];
  return new Promise((resolve) => {
    execFile('sh', ['-c', script, ...command], { cwd }, (_error, stdout) => {
      const { data } = JSON.parse(stdout) as { data: { findings: Finding[] } };
      resolve(data.findings.find(({ name }) => name === 'open files'));
    });
  });
}

async function project(connections: number | undefined): Promise<string> {
  const directory = await directoryOfTest();
  const providers = ['a', 'b'].map((name) => ({
    name,
    type: 'custom',
    base_url: 'http://127.0.0.1:9/v1',
    auth: { type: 'none' },
    ...(connections && { connections }),
  }));
  await writeConfig(directory, { providers }, true);
  return directory;
}

describe('gateway doctor', () => {
  it(
    verifies(
      'upstream.connections.file-limit',
      'says with both numbers when the file limit is too low for the connections that are set',
    ),
    async () => {
      const directory = await project(100);
      const low = await doctor(directory, 256);
      expect(low).toMatchObject({ state: 'bad' });
      expect(low?.message).toMatch(/limit is 256,.* 200 connections/);
      expect(await doctor(directory, 400)).toMatchObject({ state: 'ok' });
    },
  );

  it('says the limit, and what a provider gets that sets nothing', async () => {
    const found = await doctor(await project(undefined), 300);
    expect(found?.state).toBe('ok');
    expect(found?.message).toMatch(/limit is 300;.* gets 150/);
  });

  it('looks at the gateway that runs and not at itself', async () => {
    const directory = await project(100);
    const { pid } = process;
    await mkdir(join(directory, '.gateway'));
    await writeFile(
      join(directory, '.gateway', 'runtime.json'),
      JSON.stringify({ url: 'http://127.0.0.1:1', pid }),
    );
    const found = await doctor(directory, 256);
    expect(found?.message).not.toContain('limit is 256');
  });
});

it('finds nothing wrong where nobody knows the limit', () => {
  expect(checkFileLimit([60_000], undefined)).toMatchObject({ state: 'ok' });
  expect(checkFileLimit([60_000], Infinity)).toMatchObject({ state: 'ok' });
});
