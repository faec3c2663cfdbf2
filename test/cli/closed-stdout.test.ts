import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

const BINARY = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));

/** Exit code of a command line of bash, whose last word says where stdout goes. */
async function run(command: string, where: string) {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, 'gateway.yaml'), 'version: 1\nmodels: [{ nam: x }]\n');
  const script = `"$0" "$1" ${command} ${where}; exit "\${PIPESTATUS[0]}"`;
  const { exitCode, stderr } = await execa('bash', ['-c', script, process.execPath, BINARY], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd },
    extendEnv: false,
    reject: false,
  });
  return { exitCode, stderr };
}

describe('a stdout that nobody reads', () => {
  // The reader is gone before the command has read its files.
  it.each([
    ['validate', 3],
    ['validate --json', 3],
    ['version', 0],
  ])('leaves %s its exit code', async (command, code) => {
    const { exitCode, stderr } = await run(command, '| true');
    expect(exitCode).toBe(code);
    expect(stderr).not.toContain('EPIPE');
  });

  it('that takes no more is told in one line', async () => {
    const stderr = expect.stringMatching(/^error: cannot write to stdout: ENOSPC[^\n]*$/);
    expect(await run('version', '> /dev/full')).toEqual({ exitCode: 1, stderr });
    expect(await run('validate --json', '> /dev/full')).toEqual({ exitCode: 3, stderr });
  });
});
