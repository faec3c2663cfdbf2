import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const cwd = dirname(import.meta.dirname);
const run = promisify(execFile);

/**
 * Starts the gateway of this directory on a free port, with data of its own. `gateway` runs a command
 * against it and gives what the command prints.
 */
export async function startGateway(variables = {}) {
  const data = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const env = { ...variables, ...process.env, GATEWAY_DATA_DIR: data };
  const server = spawn('gateway', ['start', '--port', '0'], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(server, 'exit');
  const url = await addressOf(server);
  const client = {
    ...env,
    GATEWAY_SERVER: url,
    GATEWAY_API_KEY_FILE: join(data, 'admin.key'),
  };
  return {
    url,
    async gateway(...words) {
      const { stdout } = await run('gateway', words, { cwd, env: client });
      return stdout;
    },
    async stop() {
      server.kill();
      await ended;
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function addressOf({ stderr }) {
  let said = '';
  for await (const line of createInterface({ input: stderr })) {
    said += `${line}\n`;
    const [, url] = /gateway listening on (\S+)/.exec(line) ?? [];
    if (url === undefined) continue;
    // Nobody reads on; a full pipe would stop the gateway.
    stderr.resume();
    return url;
  }
  throw new Error(`the gateway did not start:\n${said}`);
}
