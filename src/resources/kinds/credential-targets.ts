import { GatewayError } from '../../core/errors.ts';
import { partsOf } from './agent-fields.ts';
import { credential } from './credential.ts';
import type { AskedChange } from '../store/define-resource.ts';
import { sameJson } from '../fields/same-json.ts';
import type { Spec } from '../store/stored.ts';

/** A server as far as it decides where a Credential goes. */
interface ServerTarget {
  readonly name: string;
  readonly type: string;
  readonly url?: string | undefined;
  readonly server?: string | undefined;
}

/** True where an Agent itself declares the server: its Credentials are for no other one of that name. */
export function declaresServer(spec: Spec, asked: ServerTarget): boolean {
  return partsOf(spec).mcp_servers.some((own) => isSame(own, asked));
}

/**
 * Lets only a caller that may keep Credentials change the targets of an Agent's: none could be read, but one
 * would be sent where the Agent says.
 *
 * @throws GatewayError `insufficient_scope`
 */
export async function keepCredentials(change: AskedChange): Promise<void> {
  const { repository, before, next, rights } = change;
  if (rights.has('credentials')) return;
  const moved = movedTargets(before.spec, next.spec);
  if (moved.size === 0) return;
  const [held] = await repository.list(credential, {
    organization: next.organization,
    limit: 1,
    matches: ({ spec }) => spec['agent_id'] === next.id && moved.has(String(spec['scope_name'])),
  });
  if (!held) return;
  const name = String(held.spec['scope_name']);
  const param = moved.get(name);
  const message = `insufficient_scope: ${param}: the Credential ${held.id} is sent to ${name}; to change what ${name} is, use a key with the scope credentials, or choose another name`;
  throw new GatewayError('insufficient_scope', { message, param });
}

/** Names that mean something else than before, with their paths. */
function movedTargets(before: Spec, next: Spec): ReadonlyMap<string, string> {
  const { mcp_servers: servers, harness } = partsOf(next);
  const moved = new Map<string, string>();
  for (const [index, server] of servers.entries())
    if (!declaresServer(before, server)) moved.set(server.name, `mcp_servers[${index}]`);
  // One with only a name is the operator's.
  const isOwn = typeof harness === 'object' && harness !== null;
  if (isOwn && !sameJson(harness, partsOf(before).harness)) moved.set(harness.name, 'harness');
  return moved;
}

function isSame(one: ServerTarget, other: ServerTarget): boolean {
  return (
    one.name === other.name &&
    one.type === other.type &&
    one.url === other.url &&
    one.server === other.server
  );
}
