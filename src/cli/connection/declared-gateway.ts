import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DEFAULT_CONFIG } from '../../config/read/load.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { CliIo } from '../io.ts';
import { isOwnAddress } from './connection.ts';
import type { DeclaredGateway } from './connection.ts';

/**
 * Reads the server of the file that the command names, or of the nearest `gateway.yaml` upwards;
 * undefined without a file, and for one that is not valid.
 */
export async function findDeclared(
  { cwd, env }: Pick<CliIo, 'cwd' | 'env'>,
  { near, envFile }: { near: string | undefined; envFile: boolean },
): Promise<DeclaredGateway | undefined> {
  const origin = near !== undefined && existsSync(resolve(cwd, near)) ? near : nearestFile(cwd);
  if (origin === undefined) return undefined;
  const { config } = await loadConfig({ paths: [origin], cwd, env, envFile });
  if (config === undefined) return undefined;
  const { listen, dataDir } = config.server;
  const server = addressOf(listen);
  const isOwn = server !== undefined && URL.canParse(server) && isOwnAddress(server);
  return { server: isOwn ? server : undefined, directory: dataDir, origin };
}

/** Address at which a server that listens everywhere is reached from here. */
export function addressOf({
  host,
  port,
  tls,
}: {
  host: string;
  port: number;
  tls?: object | null;
}): string | undefined {
  if (port === 0) return undefined;
  const scheme = tls ? 'https' : 'http';
  if (host === '0.0.0.0' || host === '::') return `${scheme}://127.0.0.1:${port}`;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The nearest gateway.yaml, upwards. */
export function nearestFile(cwd: string): string | undefined {
  for (let at = resolve(cwd); ; at = dirname(at)) {
    const path = join(at, DEFAULT_CONFIG);
    if (existsSync(path)) return path;
    if (dirname(at) === at) return undefined;
  }
}
