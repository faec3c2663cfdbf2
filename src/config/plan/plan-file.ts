import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type DesiredState, digestOf } from '../objects/desired.ts';
import type { Plan } from './plan.ts';
import { canonicalJson } from '../objects/record.ts';

/** A plan as `gateway plan --out` writes it: plain JSON without any secret value. */
export interface PlanFile {
  readonly schema: typeof PLAN_FILE_SCHEMA;
  /** Digest of the declarations that it was made of. */
  readonly configuration: string;
  readonly plan: Plan;
  /** Digest of every action, in their order, and of the rest of the plan. */
  readonly digests: PlanDigests;
}

interface PlanDigests {
  readonly actions: readonly { readonly of: string; readonly digest: string }[];
  readonly rest: string;
}

/** Number of edited actions that a message names. */
const MAX_NAMED = 5;
const PLAN_FILE_SCHEMA = 'gateway.plan-file/v1';

const planFile = z.looseObject({
  schema: z.literal(PLAN_FILE_SCHEMA),
  configuration: z.string(),
  digests: z.object({
    actions: z.array(z.object({ of: z.string(), digest: z.string() })),
    rest: z.string(),
  }),
  plan: z.looseObject({
    format: z.literal(1),
    namespace: z.string(),
    mode: z.enum(['apply', 'prune']),
    target: z.object({ server: z.string(), organization: z.string() }),
    actions: z.array(
      z.looseObject({
        kind: z.string(),
        identity: z.string(),
        action: z.string(),
        id: z.string().nullable(),
        version: z.number().nullable(),
        changes: z.array(z.looseObject({ path: z.string(), field: z.string() })),
      }),
    ),
    summary: z.looseObject({ total: z.number() }),
  }),
});

/** Reason why a saved plan cannot be applied; nothing was written. */
export class PlanFileError extends Error {
  override readonly name = 'PlanFileError';
  /** Next step that makes a plan which can be applied. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

export function toPlanFile(plan: Plan, desired: DesiredState): PlanFile {
  return {
    schema: PLAN_FILE_SCHEMA,
    configuration: digestOfState(desired),
    digests: digestsOf(plan),
    plan,
  };
}

/** @throws PlanFileError for a text that is no plan of this version */
export function readPlanFile(text: string): PlanFile {
  const parsed = planFile.safeParse(parseJson(text));
  if (parsed.success) return parsed.data as unknown as PlanFile;
  throw new PlanFileError(
    'this is not a plan file of this version',
    'write one with `gateway plan --out`',
  );
}

/**
 * Refuses a plan that was made for another server or for other declarations. Objects that changed
 * since are found by `apply` itself.
 *
 * @throws PlanFileError
 */
export function refuseForeignPlan(
  { plan: { target, namespace }, configuration }: PlanFile,
  { server, desired }: { server: string; desired: DesiredState },
): void {
  const hint = 'make a new plan with `gateway plan --out`';
  if (target?.server !== server) {
    throw new PlanFileError(
      `the plan is for ${target?.server ?? 'no server'}, not for ${server}`,
      `apply it with --server ${target?.server}, or ${hint}`,
    );
  }
  if (namespace !== desired.namespace) {
    throw new PlanFileError(
      `the plan is for namespace ${namespace}, the files are of ${desired.namespace}`,
      hint,
    );
  }
  if (configuration === digestOfState(desired)) return;
  throw new PlanFileError('the files changed since the plan was made', hint);
}

/**
 * Refuses a plan that is not what `gateway plan --out` wrote.
 *
 * @throws PlanFileError that names the edited part
 */
export function refuseEditedPlan({ plan, digests }: PlanFile): void {
  const present = digestsOf(plan);
  if (canonicalJson(present) === canonicalJson(digests)) return;
  const count = Math.max(present.actions.length, digests.actions.length);
  const edited = Array.from({ length: count }, (_, index) => {
    const [now, written] = [present.actions[index], digests.actions[index]];
    if (now?.of === written?.of && now?.digest === written?.digest) return [];
    return now?.of === written?.of
      ? [`${now?.of} says something else`]
      : [`action ${index + 1} is ${now?.of ?? 'missing'} instead of ${written?.of ?? 'nothing'}`];
  }).flat();
  const rest = present.rest === digests.rest ? [] : ['what stands beside the actions'];
  const all = [...edited, ...rest];
  const shown = all.length > MAX_NAMED ? [...all.slice(0, MAX_NAMED), '…'] : all;
  throw new PlanFileError(
    `the plan was edited after it was made: ${shown.join('; ')}`,
    'make a new plan with `gateway plan --out`',
  );
}

function digestsOf({ actions, ...rest }: Plan): PlanDigests {
  return {
    actions: actions.map((action) => ({
      of: `${action.action} ${action.kind} ${action.identity}`,
      digest: sha256(action),
    })),
    rest: sha256(rest),
  };
}

function sha256(value: unknown): string {
  // Members that are undefined are not written.
  const written = JSON.parse(JSON.stringify(value)) as unknown;
  return createHash('sha256').update(canonicalJson(written)).digest('base64url').slice(0, 22);
}

/** Names everything that was declared, secrets by their references. */
function digestOfState({ namespace, managed, objects, moved }: DesiredState): string {
  const declared = objects.map((object) => [object.kind, object.identity, digestOf(object)]);
  const text = canonicalJson([namespace, [...managed].sort(), declared.sort(byText), moved]);
  return createHash('sha256').update(text).digest('hex');
}

function byText(a: readonly string[], b: readonly string[]): number {
  return a.join('\n') < b.join('\n') ? -1 : 1;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
