import type { ListFilters } from '../../client/admin.ts';
import { ClientError } from '../../client/http/client-error.ts';
import { isRecord } from '../../client/http/guards.ts';
import { collect } from '../../client/http/pages.ts';
import type { AdminKind, Client } from '../../client/create-client.ts';
import { factsOf } from '../../core/kinds.ts';

type View = Readonly<Record<string, unknown>>;

/** Members that hold the id of another resource, by where that is kept. */
const REFERENCES: Readonly<Record<string, AdminKind>> = {
  organization: 'organizations',
  agent_id: 'agents',
  endpoint_id: 'services',
  deployment_id: 'deployments',
};

/** Most objects of a kind that are asked for one by one. */
const FEW = 8;

export function isReference(member: string): boolean {
  return Object.hasOwn(REFERENCES, member);
}

/** Member for the name of what a member refers to: `agent_name` for `agent_id`. */
export function nameMember(member: string): string {
  return `${member.replace(/_id$/, '')}_name`;
}

/** The view with the names of its references; without those that the key may not see. */
export async function addNames(client: Client, view: View, signal: AbortSignal): Promise<View> {
  const [named] = await addNamesToAll(client, [view], signal);
  return named ?? view;
}

/**
 * The same for many views. Each object is asked for once; those of a kind that are more than a few are
 * taken from its list.
 */
export async function addNamesToAll<T extends View>(
  client: Client,
  views: readonly T[],
  signal: AbortSignal,
): Promise<T[]> {
  const found = await Promise.all(
    Object.entries(REFERENCES).map(async ([member, kind]) => {
      const ids = new Set(views.flatMap((view) => idIn(view, member) ?? []));
      return [member, await namesOf(client, { kind, ids, signal })] as const;
    }),
  );
  return views.map((view) => {
    const names = found.flatMap(([member, known]) => {
      const name = known.get(idIn(view, member) ?? '');
      return name === undefined ? [] : [[nameMember(member), name] as const];
    });
    return { ...view, ...Object.fromEntries(names) };
  });
}

/** `name (id)` of the object that a member of a named view references, or only the id. */
export function referenceText(view: View, member: string): unknown {
  const { [member]: id, [nameMember(member)]: name } = view;
  return typeof id === 'string' ? nameAndId(name, id) : id;
}

export function nameAndId(name: unknown, id: string): string {
  return typeof name === 'string' && name !== '' ? `${name} (${id})` : id;
}

/** An Agent may be embedded as an object, with its name or without. */
function idIn(view: View, member: string): string | undefined {
  const { [member]: own, agent } = view;
  const isAgent = member === 'agent_id' && isRecord(agent);
  if (isAgent && typeof agent['name'] === 'string') return undefined;
  const id = isAgent ? agent['id'] : own;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

interface Named {
  readonly kind: AdminKind;
  readonly ids: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Objects of one kind, wherever the server keeps them for this key. */
interface Source {
  list(filters: ListFilters, signal: AbortSignal): AsyncIterable<{ id: string; name: string }>;
  get(id: string, signal: AbortSignal): Promise<{ name: string }>;
}

type Pair = readonly [id: string, name: string];

async function namesOf(
  client: Client,
  { kind, ids, signal }: Named,
): Promise<ReadonlyMap<string, string>> {
  // Runs and Sessions that name a Schedule are of the key's organization, as its own API is.
  const source: Source = kind === 'deployments' ? client.deployments : client.admin(kind);
  const listed = async (): Promise<Pair[]> => {
    const isArchived = factsOf(kind).verbs.includes('archive');
    const all = source.list(isArchived ? { include_archived: 'true' } : {}, signal);
    return (await collect(all)).map(({ id, name }) => [id, name]);
  };
  const one = async (id: string): Promise<Pair[]> => [[id, (await source.get(id, signal)).name]];
  const asked = ids.size > FEW ? [listed()] : [...ids].map(one);
  const pairs = await Promise.all(
    asked.map((names) =>
      names.catch((thrown: unknown) => {
        // The names are an addition: a key without the scope admin sees only ids.
        if (thrown instanceof ClientError && !signal.aborted) return [];
        throw thrown;
      }),
    ),
  );
  return new Map(pairs.flat());
}
