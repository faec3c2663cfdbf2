import { join } from 'node:path';
import type { Client } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';
import type { CommandContext } from '../context.ts';
import { needConfigHome } from '../connection/config-home.ts';
import type { Connection } from '../connection/connection.ts';
import { readOwnKey } from '../connection/own-key.ts';
import { readPrivateFile, writePrivateFile } from '../connection/private-file.ts';
import type { Tool } from './tool.ts';

/** Enough for every tool: it asks models, and lists them. */
const SCOPES = ['inference', 'models'];
const MOST_OF_A_NAME = 100;

export interface ToolKeyOptions {
  readonly context: CommandContext;
  readonly connection: Connection;
  readonly client: Client;
}

/**
 * The key that a tool may have by now: the user's own unless it may administer the gateway, else the
 * one that was made for this tool before. Undefined: one must be made.
 */
export async function findToolKey(
  tool: Tool,
  options: ToolKeyOptions,
): Promise<string | undefined> {
  const { context, connection, client } = options;
  const own = await readOwnKey(client, context.signal);
  if (!own.scopes?.includes('admin')) return connection.apiKey;
  const kept = readKept(tool, options)?.trim();
  if (!kept) return undefined;
  return (await isAccepted(kept, options)) ? kept : undefined;
}

/**
 * Makes a key of the tool's name for it and keeps it for the next time, in a private file of the
 * user. Other users and machines have keys of their own: `claude-2`.
 */
export async function makeToolKey(tool: Tool, options: ToolKeyOptions): Promise<string> {
  const key = await createNamed(tool, options);
  const value = String(key['value']);
  await writePrivateFile(keptPath(tool, options), `${value}\n`);
  options.context.output.note(`key ${key.name} (${key.id}) made for ${tool.title}`);
  return value;
}

async function createNamed({ name }: Tool, { context, client }: ToolKeyOptions) {
  for (let count = 1; ; count++) {
    const body = { name: count === 1 ? name : `${name}-${count}`, scopes: SCOPES };
    try {
      return await client.admin('keys').create(body, context.signal);
    } catch (thrown) {
      const isTaken = thrown instanceof ClientError && thrown.status === 409;
      if (!isTaken || count === MOST_OF_A_NAME) throw thrown;
    }
  }
}

async function isAccepted(
  apiKey: string,
  { context, connection }: ToolKeyOptions,
): Promise<boolean> {
  const client = await context.connectTo({ server: connection.server, apiKey });
  try {
    await readOwnKey(client, context.signal);
    return true;
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.status === 401) return false;
    throw thrown;
  }
}

function readKept(tool: Tool, options: ToolKeyOptions): string | undefined {
  return readPrivateFile(keptPath(tool, options));
}

/** One for each gateway. */
function keptPath({ name }: Tool, { context, connection }: ToolKeyOptions): string {
  const server = connection.server.replaceAll(/[^a-z0-9.]+/gi, '_');
  return join(needConfigHome(context.io.env), 'connect', `${name}@${server}.key`);
}
