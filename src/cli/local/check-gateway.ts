import { createClient } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { isOwnAddress } from '../connection/connection.ts';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { addressOf } from '../connection/declared-gateway.ts';
import { readOwnKey } from '../connection/own-key.ts';
import type { CommandContext } from '../context.ts';
import { checkPort } from './health-checks.ts';
import type { Finding } from './health-checks.ts';
import { checkSchedules } from './check-schedules.ts';

const TIMEOUT_MS = 2_000;
const NAME = 'gateway';

/** Answerer at an address: the gateway that the key belongs to, another server, or none. */
type Answerer = 'ours' | 'stranger' | 'nobody';

/** Findings about the gateway. */
export interface CheckedGateway {
  readonly findings: readonly Finding[];
  /** Address of the gateway where the own one answers. */
  readonly baseUrl?: string;
}

/**
 * Asks the gateway that every command would ask, with the key that it would send, and looks at the
 * port of the file where that is another one.
 */
export async function checkGateway(
  { listen, dataDir }: Pick<ServerConfig, 'listen' | 'dataDir'>,
  context: CommandContext,
  near: string | undefined,
): Promise<CheckedGateway> {
  let connection: Connection;
  try {
    connection = await context.connection({ near, keyRequired: false });
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    return { findings: [{ name: NAME, state: 'bad', message: thrown.message }] };
  }
  const { server } = connection;
  const answerer = await whoAnswers(connection, context);
  const declared = addressOf(listen);
  const isDeclared = declared !== undefined && isSamePlace(server, declared);
  const findings = findingsOf(answerer, connection, isDeclared);
  if (answerer === 'ours')
    findings.push(...(await checkSchedules({ baseUrl: server, dataDir }, context)));
  // A server that answers there was reported above.
  if (!isDeclared || answerer === 'nobody')
    findings.push(await checkPort(listen.host, listen.port));
  return { findings, ...(answerer === 'ours' && { baseUrl: server }) };
}

function findingsOf(
  answerer: Answerer,
  { server, serverOrigin, keyOrigin }: Connection,
  isDeclared: boolean,
): Finding[] {
  const place = `${server} (${serverOrigin})`;
  if (answerer === 'ours')
    return [{ name: NAME, state: 'ok', message: `a gateway answers at ${place}` }];
  if (answerer === 'stranger') {
    const message = `another process answers at ${place}: it does not take the key from ${keyOrigin}`;
    const hint = 'stop it, or give this gateway another port with server.listen.port';
    return [{ name: NAME, state: 'bad', message, hint }];
  }
  // A gateway that was not started is no fault.
  if (isDeclared || serverOrigin === 'default') return [];
  const message = `nothing answers at ${place}, which commands would ask`;
  return [{ name: NAME, state: 'warn', message, hint: 'start it, or name another with --server' }];
}

async function whoAnswers(
  { server: baseUrl, apiKey }: Connection,
  { clock, signal, io }: CommandContext,
): Promise<Answerer> {
  const http = { baseUrl, apiKey, clock, fetch: io.fetch, timeoutMs: TIMEOUT_MS };
  const client = createClient({ ...http, retry: { maxAttempts: 1 } });
  try {
    if (apiKey === undefined) await client.raw({ method: 'GET', path: '/readyz', signal });
    else await readOwnKey(client, signal);
    return 'ours';
  } catch (thrown) {
    if (!(thrown instanceof ClientError)) return 'stranger';
    if (thrown.status === undefined) return 'nobody';
    // A failing gateway answers with a 5xx status and a request id.
    return thrown.status >= 500 && thrown.requestId !== undefined ? 'ours' : 'stranger';
  }
}

/** True for two addresses of one port of this machine, whatever they call it. */
function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  const isSamePort = new URL(one).port === new URL(other).port;
  return isSamePort && isOwnAddress(one) && isOwnAddress(other);
}
