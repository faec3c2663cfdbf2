import { type ActualState, createFinder, findDeclared } from '../actual/actual.ts';
import { secretOf } from '../actual/changes.ts';
import type { ApplyReport } from './apply-options.ts';
import { readActual } from './apply.ts';
import { nameOrganizations } from '../actual/name-organizations.ts';
import { repeatedObjects } from '../plan/check-online.ts';
import { obstaclesOf } from '../plan/obstacles.ts';
import { deploy } from './deploy.ts';
import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { type KindName, kindOf } from '../objects/kinds.ts';
import { ownerFor, type Plan, plan } from '../plan/plan.ts';
import type { ResourceClient } from '../actual/resource-client.ts';
import { type ReferenceSources, SecretRef } from '../objects/references.ts';
import { secretAt } from '../../resources/fields/secret-path.ts';

/** Number of objects that are written at once; their writes share commits of the store. */
const PARALLELISM = 32;

export interface ConvergeOptions {
  desired: DesiredState;
  /** The client interface of the resource repository. */
  client: ResourceClient;
  sources: ReferenceSources;
  /** Compares the stored secret of an object with this value; possible only in process. */
  secretMatches: (secret: StoredSecret) => boolean | Promise<boolean>;
}

export interface StoredSecret {
  kind: KindName;
  id: string;
  field: string;
  value: string;
}

export interface ConvergeResult {
  /** Undefined when a secret is missing or an object is declared twice: nothing was written. */
  readonly plan: Plan | undefined;
  readonly report: ApplyReport | undefined;
  /** Errors (a missing secret, an object that could not be written) and warnings. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Makes the stored resources what a valid file declares, at start and at every reload: creates and
 * updates what the file owns and removes the models, providers and APIs that an earlier version of
 * the file made. Objects of `apply` or of the API are not changed, with a warning when the file
 * declares them too; neither are objects that are ambiguous or pinned to an unknown id. A missing
 * secret changes nothing at all (requirement ops.reload.atomic).
 */
export async function converge(options: ConvergeOptions): Promise<ConvergeResult> {
  const { desired: declared, client, sources } = options;
  const { diagnostics, planned, report } = await deploy({
    desired: declared,
    sources,
    async plan(secrets) {
      const actual = await readActual(client, declared);
      const desired = nameOrganizations(declared, actual);
      const changed = await changedSecrets({ ...options, desired }, { actual, secrets });
      const writeSecrets = new Set(changed.map(({ name }) => name));
      const planning = { desired, actual, mode: 'converge' as const, writeSecrets };
      return { plan: plan(planning), desired, owner: ownerFor(planning), client, changed };
    },
    confirm: async ({ desired }) => repeatedObjects(desired).length === 0,
    parallelism: PARALLELISM,
    // The first of the models that a bare name may mean counts: every start makes them in the same
    // order.
    isStrict: true,
  });
  if (planned === undefined) return { plan: undefined, report: undefined, diagnostics };
  const { desired } = planned;
  if (report === undefined)
    return { plan: undefined, report, diagnostics: repeatedObjects(desired) };
  return {
    plan: planned.plan,
    report,
    diagnostics: [
      ...warningsOf(planned.plan, desired),
      ...planned.changed.filter(({ isFixed }) => isFixed).map(({ object }) => fixedWarning(object)),
      ...errorsOf(report, desired),
    ],
  };
}

interface ChangedSecret {
  /** `kind/identity#field`. */
  name: string;
  object: DesiredObject;
  /** The field takes a value at creation only. */
  isFixed: boolean;
}

async function changedSecrets(
  { desired, secretMatches }: ConvergeOptions,
  { actual, secrets }: { actual: ActualState; secrets: ReadonlyMap<SecretRef, string> },
): Promise<ChangedSecret[]> {
  const find = createFinder();
  const changed: ChangedSecret[] = [];
  for (const object of desired.objects) {
    const { kind, identity, body } = object;
    const [view] = findDeclared(object, actual, find);
    if (view === undefined) continue;
    for (const field of kindOf(kind).secrets) {
      const ref = secretOf(secretAt(body, field));
      const value = ref instanceof SecretRef ? secrets.get(ref) : undefined;
      if (value === undefined) continue;
      if (await secretMatches({ kind, id: view.id, field, value })) continue;
      const isFixed = kindOf(kind).definition.immutable.includes(field);
      changed.push({ name: `${kind}/${identity}#${field}`, object, isFixed });
    }
  }
  return changed;
}

function fixedWarning({ kind, identity, place }: DesiredObject): Diagnostic {
  return {
    ...place,
    path: `${kind} ${identity}`,
    severity: 'warning',
    message: 'has another value now; the stored one is kept',
    hint: 'declare a new key with the new value, then revoke this one',
  };
}

function warningsOf(made: Plan, desired: DesiredState): Diagnostic[] {
  return obstaclesOf(made, desired).map(({ object, message, hint }) => ({
    ...object.place,
    path: `${object.kind} ${object.identity}`,
    severity: 'warning',
    message: `${message}; left unchanged`,
    hint,
  }));
}

function errorsOf({ failed, blocked }: ApplyReport, desired: DesiredState): Diagnostic[] {
  return [...failed, ...blocked].map(({ kind, identity, reason }) => ({
    ...placeOf(desired, kind, identity),
    path: `${kind} ${identity}`,
    severity: 'error',
    message: reason ?? 'could not be written',
  }));
}

function placeOf(desired: DesiredState, kind: KindName, identity: string) {
  const object = desired.objects.find((one) => one.kind === kind && one.identity === identity);
  return object?.place ?? { file: '', line: 1, column: 1 };
}
