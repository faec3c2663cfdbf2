import { ClientError } from '../../client/http/client-error.ts';
import { isRecord } from '../../client/http/guards.ts';
import type { AdminKind, Client } from '../../client/create-client.ts';

type View = Readonly<Record<string, unknown>>;

/** Members that hold the id of another resource, by where that is kept. */
const REFERENCES: Readonly<Record<string, AdminKind>> = {
  organization: 'organizations',
  agent_id: 'agents',
  endpoint_id: 'services',
  deployment_id: 'deployments',
};

export function isReference(member: string): boolean {
  return Object.hasOwn(REFERENCES, member);
}

/** Member for the name of what a member refers to: `agent_name` for `agent_id`. */
export function nameMember(member: string): string {
  return `${member.replace(/_id$/, '')}_name`;
}

/** The view with the names of what it refers to; without those that the key may not see. */
export async function addNames(client: Client, view: View, signal: AbortSignal): Promise<View> {
  const names = await Promise.all(
    Object.entries(REFERENCES).map(async ([member, kind]) => {
      const id = idIn(view, member);
      if (id === undefined) return [];
      return [[nameMember(member), await nameOf(client, { kind, id, signal })] as const];
    }),
  );
  const known = names.flat().filter(([, name]) => name !== undefined);
  return { ...view, ...Object.fromEntries(known) };
}

/** An Agent may stand there as an object, with its name or without. */
function idIn(view: View, member: string): string | undefined {
  const { [member]: own, agent } = view;
  const isAgent = member === 'agent_id' && isRecord(agent);
  if (isAgent && typeof agent['name'] === 'string') return undefined;
  const id = isAgent ? agent['id'] : own;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

async function nameOf(
  client: Client,
  { kind, id, signal }: { kind: AdminKind; id: string; signal: AbortSignal },
): Promise<string | undefined> {
  try {
    return (await client.admin(kind).get(id, signal)).name;
  } catch (thrown) {
    // The names are an addition: a key without the scope admin sees ids alone.
    if (thrown instanceof ClientError && !signal.aborted) return undefined;
    throw thrown;
  }
}
