import type { View } from '../actual/actual.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { labelsOf, PAUSED_AT_LABEL } from '../actual/ownership.ts';
import type { ResourceClient } from '../actual/resource-client.ts';

type Body = Readonly<Record<string, unknown>>;

const BINDING = ['agent_id', 'agent_version'] as const;

/** True when an update requires a pause that is missing (contract: States and transitions). */
export function mustPause(kind: KindName, fields: ReadonlySet<string>, view?: View): boolean {
  const bound = kindOf(kind).boundWhilePaused;
  return view?.['status'] === 'active' && bound.some((field) => fields.has(field));
}

/** A Schedule takes the Agent and its version together. */
export function withBinding(kind: KindName, body: Body, view?: View): Record<string, unknown> {
  const { agent_id: id = view?.['agent_id'], agent_version: version, ...rest } = body;
  const isChanged = BINDING.some((field) => field in body);
  if (kindOf(kind).boundWhilePaused.length === 0 || !isChanged) return { ...body };
  const versioned = version === undefined ? {} : { agent_version: version };
  return { ...rest, agent_binding: { agent_id: id, ...versioned } };
}

/**
 * True when it is paused because an apply was killed before it unpaused it: the note precedes the
 * pause, and only that apply can have changed it since. A pause by hand is a version further.
 */
export function isLeftPaused(kind: KindName, view: View): boolean {
  if (kindOf(kind).boundWhilePaused.length === 0 || view['status'] !== 'paused') return false;
  const noted = Number(labelsOf(view)[PAUSED_AT_LABEL] ?? NaN);
  // The note, the pause and the update.
  return view.version >= noted && view.version <= noted + 2;
}

/** True when the declaration itself keeps it paused, so that no apply unpauses it. */
export function isDeclaredPaused(
  kind: KindName,
  { body }: { readonly body: Readonly<Record<string, unknown>> },
): boolean {
  return kindOf(kind).boundWhilePaused.length > 0 && body['paused'] === true;
}

/** The label that notes the pause; the note is a version of its own. */
export function pauseNote(view: View): Record<string, string> {
  return { [PAUSED_AT_LABEL]: String(view.version + 1) };
}

export interface Rebinding {
  readonly client: Pick<ResourceClient, 'act'>;
  readonly kind: KindName;
  readonly id: string;
  /** Version that the plan was made for. */
  readonly version: number;
  /** Notes on the object that it is going to be paused. */
  readonly note: (version: number) => Promise<View>;
  /** Writes the paused object, at that version. */
  readonly update: (version: number) => Promise<View>;
  /** Retries a write where that is safe. */
  readonly again: <T>(write: () => Promise<T>) => Promise<T>;
}

/**
 * Notes, pauses, updates, and lets it run again; also when the update fails (requirement
 * cli.apply.rebind). When the process is killed in between, the note has the next apply do the rest.
 * Rejects as the update does, with the word that it is left paused when it could not be let run again.
 */
export async function rebind(rebinding: Rebinding): Promise<View> {
  const { client, kind, id, version, note, update, again } = rebinding;
  const noted = await note(version);
  const paused = await again(() => client.act(kind, id, 'pause'));
  const resume = (): Promise<View> => again(() => client.act(kind, id, 'unpause'));
  try {
    // The note and the pause are one version each; further versions are not in the plan.
    if (paused.version > noted.version + 1 || noted.version > version + 1)
      throw new Error('it was changed concurrently');
    await update(paused.version);
  } catch (thrown) {
    const told = await resume().then(
      () => undefined,
      () => 'it is left paused',
    );
    if (told === undefined) throw thrown;
    throw new Error(`${messageOf(thrown)}; ${told}`, { cause: thrown });
  }
  return resume().catch((thrown: unknown) => {
    throw new Error(`it is changed but left paused: ${messageOf(thrown)}`, { cause: thrown });
  });
}

/** Pauses and updates what stays paused. Killed in between, it is as its declaration keeps it. */
export async function pauseAndUpdate({
  client,
  kind,
  id,
  version,
  update,
  again,
}: Omit<Rebinding, 'note'>): Promise<View> {
  const paused = await again(() => client.act(kind, id, 'pause'));
  if (paused.version > version + 1) throw new Error('it was changed by somebody else meanwhile');
  return update(paused.version);
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'unknown reason';
}
