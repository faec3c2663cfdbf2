import { vi } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';

/** After it a start that was not refused is ended, which then gives code 0. */
const OVERDUE_MS = 60_000;

/**
 * Runs `gateway start` in this process, of which the caller expects a refusal; gives its exit code and
 * its output on stderr.
 */
export async function refusedStart({
  cwd,
  env = {},
}: {
  cwd: string;
  env?: Record<string, string>;
}): Promise<{ code: number; said: string }> {
  let said = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  const overdue = setTimeout(() => process.emit('SIGTERM'), OVERDUE_MS);
  try {
    const { code, stderr } = await runCli(['start'], { cwd, env });
    return { code, said: said + stderr };
  } finally {
    clearTimeout(overdue);
    write.mockRestore();
  }
}
