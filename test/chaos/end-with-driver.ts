import type { ChildProcess } from 'node:child_process';

/** Whatever way the driver ends, what it started is killed. */
export function endWithDriver(child: ChildProcess): void {
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}
