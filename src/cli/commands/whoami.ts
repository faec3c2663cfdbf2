import { ClientError } from '../../client/client-error.ts';
import type { ResourceView } from '../../client/admin.ts';
import type { Client } from '../../client/create-client.ts';
import type { CommandRun } from '../command.ts';
import { renderFields } from '../table.ts';

export const run: CommandRun = async ({ context }) => {
  const { server, serverOrigin, apiKey = '', keyOrigin } = await context.connection();
  const client = await context.connect();
  const hint = hintOf(apiKey);
  const key = await findKey(client, hint, context.signal);
  const data = {
    server,
    server_from: serverOrigin,
    key: hint,
    key_from: keyOrigin,
    key_name: key?.name ?? null,
    key_id: key?.id ?? null,
    organization: key?.['organization'] ?? null,
  };
  return { data, text: (style) => renderFields(data, style) };
};

/** The same shortening that the server shows: enough to tell keys apart, too little to use one. */
function hintOf(apiKey: string): string {
  return apiKey.length < 20 ? '…' : `${apiKey.slice(0, 6)}…${apiKey.slice(-4)}`;
}

/** A key without the scope `admin` cannot look itself up; that it is accepted is known all the same. */
async function findKey(
  client: Client,
  hint: string,
  signal: AbortSignal,
): Promise<ResourceView | undefined> {
  try {
    for await (const key of client.admin('keys').list({}, signal)) {
      if (key['hint'] === hint && key['enabled'] === true) return key;
    }
  } catch (thrown) {
    const unscoped = thrown instanceof ClientError && thrown.code === 'insufficient_scope';
    if (!unscoped) throw thrown;
  }
  return undefined;
}
