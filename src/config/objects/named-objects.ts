import type { KindName } from './kinds.ts';
import { isRecord } from './record.ts';
import { ObjectRef } from './references.ts';

/** A member that names another object. */
interface NamingMember {
  /** Steps from the object to it; `*` is each member of a list. */
  readonly path: readonly string[];
  readonly kind: KindName;
}

/** Runtime of an Agent, wherever it is written. */
const runtimeAt = (...path: string[]): NamingMember[] => [
  { path: [...path, 'model'], kind: 'model' },
  { path: [...path, 'model', 'id'], kind: 'model' },
  { path: [...path, 'skills', '*', 'skill_id'], kind: 'skill' },
];
const AGENT: NamingMember = { path: ['agent_id'], kind: 'agent' };

/** Members by which objects name others, by kind; the organization aside. */
const NAMING: Readonly<Partial<Record<KindName, readonly NamingMember[]>>> = {
  model: [
    { path: ['routes', '*', 'provider'], kind: 'provider' },
    { path: ['fallbacks', '*'], kind: 'model' },
  ],
  alias: [{ path: ['model'], kind: 'model' }],
  budget: [
    { path: ['match', 'keys', '*'], kind: 'key' },
    { path: ['on_exceed', 'downgrade'], kind: 'model' },
  ],
  agent: runtimeAt(),
  credential: [AGENT],
  service: [AGENT, ...runtimeAt('runtime')],
  deployment: [AGENT, ...runtimeAt('runtime'), ...runtimeAt('agent_config')],
};

/** Kinds that run a model by its name. */
export const MODEL_USERS: ReadonlySet<KindName> = new Set(['agent', 'service', 'deployment']);

/** Another object as a member names it: by a text, which may be an id, or by a reference. */
export interface NamedObject {
  readonly path: readonly (string | number)[];
  readonly kind: KindName;
  readonly name: string;
  readonly isReference: boolean;
}

/** Every object that the members of one of this kind name. */
export function namedObjects(
  kind: KindName,
  body: Readonly<Record<string, unknown>>,
): NamedObject[] {
  return (NAMING[kind] ?? []).flatMap((member) => found(body, member, []));
}

/** Kinds whose objects belong to the named one and do not keep it in use. */
export const BELONGINGS: ReadonlySet<KindName> = new Set(['credential']);

/** Kinds whose objects name some of the kind. */
export function namersOf(kind: KindName): KindName[] {
  return (Object.keys(NAMING) as KindName[]).filter((one) =>
    NAMING[one]?.some((member) => member.kind === kind),
  );
}

function found(
  value: unknown,
  { path: [step, ...rest], kind }: NamingMember,
  above: readonly (string | number)[],
): NamedObject[] {
  if (step === undefined) {
    const isReference = value instanceof ObjectRef;
    const name = isReference ? value.name : value;
    return typeof name === 'string' ? [{ path: above, kind, name: name.trim(), isReference }] : [];
  }
  const below = { path: rest, kind };
  if (step === '*') {
    if (!Array.isArray(value)) return [];
    return value.flatMap((member, at) => found(member, below, [...above, at]));
  }
  if (!isRecord(value)) return [];
  // The model calls of a harness are its own.
  const isHarness = step === 'model' && (value['harness'] ?? null) !== null;
  return isHarness ? [] : found(value[step], below, [...above, step]);
}
