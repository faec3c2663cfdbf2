import { maskKey } from '../../connection/contexts.ts';
import { readOwnKey } from '../../connection/own-key.ts';
import { renderFields } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'whoami'> = async ({ context }) => {
  const found = await context.connection();
  const key = await readOwnKey(await context.connectTo(found), context.signal);
  const data = {
    server: found.server,
    server_from: found.serverOrigin,
    context: found.context ?? null,
    organization: key.organization.name,
    organization_id: key.organization.id,
    key: maskKey(found.apiKey ?? ''),
    key_from: found.keyOrigin,
    key_name: key.name,
    key_id: key.id,
    scopes: key.scopes,
    role: key.role ?? null,
  };
  return { data, text: (style) => renderFields(data, style) };
};
