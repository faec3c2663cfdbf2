import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { freePort } from '../../store/support/free-port.ts';
import { eventually } from '../gateway.ts';

// The package has a program and no module.
const PROGRAM = fileURLToPath(
  new URL(
    '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
    import.meta.url,
  ),
);

/** The protocol's own example server as a program on stdio. */
export const EVERYTHING = { command: process.execPath, args: [PROGRAM, 'stdio'] };

/** The same over streamable HTTP, until the test is over. */
export async function startEverything(): Promise<{ url: string; port: number; said(): string }> {
  const port = await freePort();
  const env = { PATH: process.env['PATH'], PORT: String(port) };
  const child = spawn(process.execPath, [PROGRAM, 'streamableHttp'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (said += text));
  onTestFinished(() => void child.kill('SIGKILL'));
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${said}`);
    return said.includes('listening on port');
  }, 20_000);
  return { url: `http://127.0.0.1:${port}/mcp`, port, said: () => said };
}

/** It takes no port 0. */
