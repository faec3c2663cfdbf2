import { createClient } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';
import { isCertificateFault, systemCode } from '../../client/http/connection-error.ts';
import { sendWithNode } from '../../client/http/node-transport.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { findRuntime } from '../../core/process/runtime-file.ts';
import type { Runtime } from '../../core/process/runtime-file.ts';
import { isOwnAddress, ownUrlOf } from '../connection/connection.ts';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { connectionHint } from '../connection/connection-hints.ts';
import { addressOf } from '../connection/declared-gateway.ts';
import { readOwnKey } from '../connection/own-key.ts';
import type { CommandContext } from '../context.ts';
import { keyFor, notOwnText } from './ask-own.ts';
import { checkPort } from './health-checks.ts';
import type { Finding } from './health-checks.ts';
import { checkSchedules } from './check-schedules.ts';

const TIMEOUT_MS = 2_000;
const NAME = 'gateway';

/**
 * Answerer at an address: the gateway that the key belongs to, another server, or none. `untrusted`: one
 * whose certificate is not taken here, so that it cannot be asked.
 */
interface Answerer {
  readonly is: 'ours' | 'stranger' | 'nobody' | 'untrusted';
  /** Code of the system where nothing could be asked. */
  readonly code: string;
}

type Listening = Pick<ServerConfig, 'listen' | 'dataDir'>;

/** Findings about the gateway. */
export interface CheckedGateway {
  readonly findings: readonly Finding[];
  /** Address of the gateway where the own one answers. */
  readonly baseUrl?: string;
}

/**
 * Asks the gateway that every command would ask, with the key that it would send, then the one that runs on
 * the data folder where that is at another address, and looks at the port of the file where neither has it.
 */
export async function checkGateway(
  server: Listening,
  context: CommandContext,
  near: string | undefined,
): Promise<CheckedGateway> {
  const { listen, dataDir } = server;
  let connection: Connection;
  try {
    connection = await context.connection({ near, keyRequired: false });
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    return { findings: [{ name: NAME, state: 'bad', message: thrown.message }] };
  }
  const own = findRuntime(dataDir);
  const declared = addressOf(listen);
  const isDeclared = declared !== undefined && isSamePlace(connection.server, declared);
  const ownUrl = own && ownUrlOf(own.record);
  const isOwn = ownUrl !== undefined && isSamePlace(connection.server, ownUrl);
  const asked = await whoAnswers(connection, context);
  const findings =
    own && isOwn
      ? [ownFinding(own, { asked, connection, server })]
      : findingsOf(asked, connection, isDeclared);
  // Further questions carry the admin key of the folder.
  let baseUrl =
    asked.is === 'ours' && isOwnAddress(connection.server) ? connection.server : undefined;
  if (own && ownUrl === undefined) {
    const hint = 'remove the file, which `gateway start` writes again';
    findings.push({ name: NAME, state: 'warn', message: notOwnText(own), hint });
  } else if (own && ownUrl !== undefined && !isOwn) {
    const direct = {
      ...connection,
      server: ownUrl,
      ...(await keyOf(ownUrl, dataDir, context)),
    };
    const there = await whoAnswers(direct, context);
    findings.push(ownFinding(own, { asked: there, connection: direct, server }));
    if (there.is === 'ours') baseUrl = ownUrl;
  }
  if (baseUrl !== undefined)
    findings.push(...(await checkSchedules({ baseUrl, dataDir }, context)));
  const isHeld = ownUrl !== undefined && portOf(ownUrl) === String(listen.port);
  // A server that answers there was reported above.
  if (!isHeld && (!isDeclared || asked.is === 'nobody'))
    findings.push(await checkPort(listen.host, listen.port));
  return { findings, ...(baseUrl !== undefined && { baseUrl }) };
}

/** The gateway of the data folder is never another program, however it answers. */
function ownFinding(
  { file, record, state }: Runtime,
  {
    asked,
    connection,
    server: { listen },
  }: { asked: Answerer; connection: Connection; server: Listening },
): Finding {
  const place = `${record.url} (${file})`;
  const since = record.since === undefined ? '' : ` since ${record.since}`;
  const who = `the gateway of this folder, process ${record.pid ?? '?'}${since}`;
  if (asked.is === 'ours')
    return { name: NAME, state: 'ok', message: `a gateway answers at ${place}: ${who}` };
  if (asked.is === 'untrusted') {
    const own = listen.tls ? ` (its certificate: ${listen.tls.cert})` : '';
    const message = `${who} runs at ${record.url}, and this command does not trust its certificate (${asked.code})`;
    return {
      name: NAME,
      state: 'warn',
      message,
      hint: `${connectionHint(asked.code) ?? ''}${own}`,
    };
  }
  if (asked.is === 'stranger') {
    const message = `${who} at ${record.url} does not take the key from ${connection.keyOrigin}`;
    const hint = 'name its admin key with --api-key-file; `gateway store admin-key` makes another';
    return { name: NAME, state: 'warn', message, hint };
  }
  return {
    name: NAME,
    state: state === 'running' ? 'bad' : 'warn',
    message: `${who} does not answer at ${record.url} (${asked.code || 'no answer'})`,
    hint: 'look at its log; `gateway status` shows what is known of it',
  };
}

/** None where it cannot be read: that of another server is never sent. */
async function keyOf(...own: Parameters<typeof keyFor>): ReturnType<typeof keyFor> {
  try {
    const { apiKey, keyOrigin } = await keyFor(...own);
    return { apiKey, keyOrigin };
  } catch {
    return { apiKey: undefined, keyOrigin: 'nowhere' };
  }
}

function findingsOf(
  { is, code }: Answerer,
  { server, serverOrigin, keyOrigin }: Connection,
  isDeclared: boolean,
): Finding[] {
  const place = `${server} (${serverOrigin})`;
  if (is === 'ours') return [{ name: NAME, state: 'ok', message: `a gateway answers at ${place}` }];
  if (is === 'stranger') {
    const message = `another process answers at ${place}: it does not take the key from ${keyOrigin}`;
    const hint =
      'name the gateway that you mean with --server, or give this one another port with server.listen.port';
    return [{ name: NAME, state: 'bad', message, hint }];
  }
  if (is === 'untrusted') {
    const message = `${place} cannot be asked: its certificate is not trusted here (${code})`;
    return [{ name: NAME, state: 'warn', message, hint: connectionHint(code) }];
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
  const how = io.fetch ? { fetch: io.fetch } : { transport: sendWithNode };
  const http = { baseUrl, apiKey, clock, timeoutMs: TIMEOUT_MS, ...how };
  const client = createClient({ ...http, retry: { maxAttempts: 1 } });
  try {
    if (apiKey === undefined) await client.raw({ method: 'GET', path: '/readyz', signal });
    else await readOwnKey(client, signal);
    return { is: 'ours', code: '' };
  } catch (thrown) {
    if (!(thrown instanceof ClientError)) return { is: 'stranger', code: '' };
    const code = systemCode(thrown.cause);
    if (thrown.status === undefined)
      return { is: isCertificateFault(code) ? 'untrusted' : 'nobody', code };
    // A failing gateway answers with a 5xx status and a request id.
    const isFailing = thrown.status >= 500 && thrown.requestId !== undefined;
    return { is: isFailing ? 'ours' : 'stranger', code };
  }
}

/** True for two addresses of one port of this machine, whatever they call it. */
function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  return portOf(one) === portOf(other) && isOwnAddress(one) && isOwnAddress(other);
}

/** With the port that a scheme has by default. */
function portOf(address: string): string {
  const { port, protocol } = new URL(address);
  return port || (protocol === 'https:' ? '443' : '80');
}
