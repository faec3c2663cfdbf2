import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { chunk } from '../support/chat.ts';
import { eventually, newDirectory, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

const SECRET = 'sk-1234567890abcdef1234567890abcdef';
/** Two signals that mean nothing to the gateway make faults of no request. */
const HOOK = `
const fault = () => new Error('the driver broke with ${SECRET}');
process.on('SIGWINCH', () => void Promise.reject(fault()));
process.on('SIGCONT', () => setImmediate(() => { throw fault(); }));
process.stderr.write('process ' + process.pid + '\\n');
`;
const LONG = { timeout: 180_000 };

async function start(config: object, args: string[] = []): Promise<TestGateway> {
  const directory = await newDirectory();
  const hook = join(directory, 'hook.mjs');
  await writeFile(hook, HOOK);
  const gateway = await startGateway(
    { server: { log: { format: 'json' }, ...('server' in config ? (config.server as object) : {}) }, ...rest(config) },
    {
      binary: true,
      directory,
      args,
      env: { NODE_OPTIONS: `--import ${pathToFileURL(hook).href}` },
    },
  );
  onTestFinished(async () => {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return gateway;
}

function rest({ server: _, ...others }: Record<string, unknown>): object {
  return others;
}
