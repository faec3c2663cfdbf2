import { join } from 'node:path';
import { createClient } from '../../client/create-client.ts';
import type { Client } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';
import { sendWithNode } from '../../client/http/node-transport.ts';
import type { GatewayStatus } from '../../client/operators.ts';
import { oneLine } from '../../core/printable.ts';
import type { Runtime } from '../../core/process/runtime-file.ts';
import { ownUrlOf, readKeyFile } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import type { CommandContext } from '../context.ts';
import { toFailure } from '../failure.ts';
import { statSeen } from '../output/stat-seen.ts';

/** Most Sessions of which the waiting ones are counted. */
const MAX_SESSIONS = 300;
const TIMEOUT_MS = 5_000;
const NO_KEY =
  'health and work, since no admin key is here; name one with --api-key-file or GATEWAY_API_KEY';

/** Answers of a gateway on this machine about itself; each is absent where it could not be had. */
export interface Asked {
  readonly isReady?: boolean | undefined;
  readonly status?: GatewayStatus | undefined;
  /** Number of Sessions that wait for a person, in the organization of the key. */
  readonly waiting?: number | undefined;
  /** Reason why something is absent, with the next step. */
  readonly problem?: string | undefined;
}

/** Asks the gateway of a data folder with the admin key of that folder, else with the key in use. */
export async function askOwn(
  runtime: Runtime,
  dataDir: string,
  context: CommandContext,
): Promise<Asked> {
  const server = ownUrlOf(runtime.record);
  if (server === undefined) return { problem: notOwnText(runtime) };
  const { io, clock, signal } = context;
  const timeoutMs = Math.min(context.timeoutMs, TIMEOUT_MS);
  const how = io.fetch ? { fetch: io.fetch } : { transport: sendWithNode };
  const clientOf = (apiKey: string | undefined): Client =>
    createClient({ baseUrl: server, apiKey, clock, timeoutMs, retry: { maxAttempts: 1 }, ...how });
  let asked: Asked = {};
  try {
    asked = { isReady: await readReady(clientOf(undefined), signal) };
    const { apiKey } = await keyFor(server, dataDir, context);
    if (apiKey === undefined) return { ...asked, problem: NO_KEY };
    const client = clientOf(apiKey);
    asked = { ...asked, status: await client.operators.status(signal) };
    return { ...asked, waiting: await countWaiting(client, signal) };
  } catch (thrown) {
    const { message, hint } = toFailure(thrown);
    const what = asked.status === undefined ? '' : 'Sessions that wait were not counted: ';
    return { ...asked, problem: `${what}${message}${hint === undefined ? '' : `\n${hint}`}` };
  }
}

/** Problem of a file whose address is not asked, since it would get the key. */
export function notOwnText({ file, record }: Runtime): string {
  return `${file} names ${oneLine(record.url)}, which is no address of this machine: it was not asked`;
}

/** The admin key of the folder, else the one that commands would send to this server. */
export async function keyFor(
  server: string,
  dataDir: string,
  context: CommandContext,
): Promise<Pick<Connection, 'apiKey' | 'keyOrigin'>> {
  const own = join(dataDir, 'admin.key');
  if (statSeen(own) !== undefined) return { apiKey: readKeyFile(own), keyOrigin: own };
  return context.connection({ given: { server }, keyRequired: false });
}

/** 503 is an answer, too. */
async function readReady(client: Client, signal: AbortSignal): Promise<boolean> {
  try {
    await client.raw({ method: 'GET', path: '/readyz', signal });
    return true;
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.status !== undefined) return false;
    throw thrown;
  }
}

async function countWaiting(client: Client, signal: AbortSignal): Promise<number> {
  let [seen, waiting] = [0, 0];
  for await (const session of client.sessions.list({ statuses: ['idle'] }, signal)) {
    if (session['waiting']) waiting++;
    if (++seen === MAX_SESSIONS) break;
  }
  return waiting;
}
