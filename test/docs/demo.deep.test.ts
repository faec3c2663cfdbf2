import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';

const DEMO = fileURLToPath(new URL('../../scripts/demo.js', import.meta.url));

it('the demo runs by itself, shows every step and exits 0', async () => {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [DEMO], {
    reject: false,
    stdin: 'ignore',
  });
  expect(exitCode, stderr).toBe(0);
  // The limit is small on purpose.
  expect(stderr).toMatch(/^warning: spending_limit\.lifetime: 0\.0001 USD cannot pay for .*$/);
  expect(stdout).toContain('asked broken: status_503');
  expect(stdout).toContain('HTTP 402: {"error":"API key spending limit exceeded"}');
  expect(stdout).toMatch(/^ +my-app +demo\/echo +5 +0 +\d+ +0 +\d+ +0\.\d+$/m);
  expect(stdout).toMatch(/ complete: \d+ events, one answer, 2 model requests$/m);
  expect(stdout.match(/^ +chat: Schedule report: succeeded$/gm)?.length).toBeGreaterThan(1);
}, 240_000);
