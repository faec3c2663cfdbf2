import { titleOf } from '../../config/objects/kinds.ts';
import { identityOf } from '../../config/actual/actual.ts';
import { nameOrganizations } from '../../config/actual/name-organizations.ts';
import { changedSecrets, compareSecrets } from '../../config/actual/compare-secrets.ts';
import { readActual } from '../../config/apply/apply.ts';
import {
  checkDangling,
  missingModels,
  repeatedObjects,
  type TakenSlug,
  takenSlugs,
} from '../../config/plan/check-online.ts';
import { formatDiagnostics } from '../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { ResourceClient } from '../../config/actual/resource-client.ts';
import { ownershipOf } from '../../config/actual/ownership.ts';
import { leftOut } from '../../config/plan/fixed.ts';
import { kindsThatName } from '../../config/plan/keep-used.ts';
import { resolveAllSecrets } from '../../config/read/secrets.ts';
import { WAYS_OUT } from '../../config/plan/obstacles.ts';
import { ownerFor, plan, type Plan, type PlanOptions } from '../../config/plan/plan.ts';
import { CliError } from '../cli-error.ts';
import type { FlagValues } from '../grammar/flags.ts';
import { EXIT } from '../exit-codes.ts';
import { secretOf } from '../input/written-secret.ts';
import { listed } from '../output/listed.ts';
import type { CHOICE, EXIT_CODE } from '../tables/config-words.ts';
import { type Followed, ownedElsewhere } from './followed.ts';

export interface PlanSources {
  config: GatewayConfig;
  resources: ResourceClient;
  server: string;
  /** Files that the gateway follows, where it does. */
  followed?: Followed | undefined;
}

export interface PlanChoice {
  prune: boolean;
  adopt: boolean;
  writeSecrets: readonly string[];
}

/** The options of plan and apply that decide about the changes. */
export function planChoice(flags: FlagValues<typeof CHOICE>): PlanChoice {
  return {
    prune: flags.prune,
    adopt: flags.adopt,
    writeSecrets: flags['write-secret'],
  };
}

/**
 * Reads the gateway and compares. Throws `ambiguous_name` and `owned_elsewhere` (exit 5), since what
 * the files say could not become true.
 */
export async function makePlan(sources: PlanSources, choice: PlanChoice): Promise<ComparedPlan> {
  const made = await comparePlan(sources, choice);
  // A reload leaves such objects as they are and continues.
  if (made.plan.mode !== 'converge') refuse(made.plan, sources.followed);
  refuseImpossible(made.options);
  return made;
}

/** A plan with its input. */
export interface ComparedPlan {
  readonly options: PlanOptions;
  readonly plan: Plan;
  /** Why commands of secrets gave no value. */
  readonly ofCommands: readonly string[];
}

/** Reads the gateway and compares, whatever comes of it. */
export async function comparePlan(
  { config, resources, server, followed }: PlanSources,
  choice: PlanChoice,
): Promise<ComparedPlan> {
  const { managed } = config.desired;
  // A removed object may have users of kinds that the files do not declare.
  const read = choice.prune ? new Set([...managed, ...kindsThatName(managed)]) : managed;
  const actual = await readActual(resources, { ...config.desired, managed: read });
  const desired = nameOrganizations(config.desired, actual);
  const state = {
    desired,
    actual,
    inventories: (await resources.inventories?.list()) ?? [],
    mode: modeOf(choice, followed),
  };
  const { secrets, ofCommands } = await resolveAllSecrets(desired, config.sources);
  const owner = ownerFor(state);
  const client = resources;
  const { facts, uncompared } = await compareSecrets({ desired, actual, owner, secrets, client });
  const asked = choice.writeSecrets.map((named) => secretOf(named, { desired, actual }));
  const options: PlanOptions = {
    ...state,
    // The admin API sees every organization, so the plan is bound to none of them.
    target: { server, organization: '*' },
    adopt: choice.adopt && !followed?.isSame,
    secrets: facts,
    uncompared,
    writeSecrets: new Set([...asked, ...changedSecrets(facts, desired)]),
  };
  return { options, plan: plan(options), ofCommands };
}

/** Files that the gateway follows are compared as its reload compares them. */
function modeOf({ prune }: PlanChoice, followed: Followed | undefined): PlanOptions['mode'] {
  if (followed?.isSame) return 'converge';
  return prune ? 'prune' : 'apply';
}

/** Models that a call would miss, in sentences: an Agent may be declared before its model. */
export function missingModelTexts(options: PlanOptions): string[] {
  return missingModels(options).map(({ path, message }) => `${path}: ${message}`);
}

/** Throws for names that nothing has and objects that are declared twice: no write could make them true. */
function refuseImpossible(options: PlanOptions): void {
  const faults = checkDangling(options);
  if (faults.length === 0) return;
  const isRepeated = repeatedObjects(options.desired).length > 0;
  throw new CliError({
    code: isRepeated ? 'invalid_config' : 'dangling_reference',
    message: formatDiagnostics(faults, 'text'),
    hint: 'nothing was changed',
    exit: 'invalid_config',
  });
}

/** Slugs of new objects that others hold, and the way out; an apply fails for the first. */
export function slugConflicts(options: PlanOptions): CliError[] {
  return takenSlugs(options).map((taken) => slugTaken(taken, options));
}

function slugTaken({ object, slug, holder }: TakenSlug, options: PlanOptions): CliError {
  const { kind, name } = object;
  const former = identityOf(kind, holder, options.actual);
  const isOurs = ownershipOf(holder, ownerFor(options)) === 'own';
  const isDeclared = options.desired.objects.some(
    (one) => one.kind === kind && one.identity === former,
  );
  const from = String(holder['name']);
  const entry = `moved: [{ kind: ${kind}, from: ${JSON.stringify(from)}, to: ${JSON.stringify(name)} }]`;
  return new CliError({
    code: 'name_taken',
    message: `${kind} ${object.identity}: the slug ${slug} belongs to ${kind} ${former} (${holder.id})`,
    hint:
      isOurs && !isDeclared
        ? `it is of this namespace and no longer declared; if it was renamed, add \`${entry}\``
        : 'give one of the two another slug; two that change places need a third one in between',
    exit: 'conflict',
  });
}

function refuse({ ambiguous, conflicts, lost }: Plan, followed: Followed | undefined): void {
  if (lost.length > 0) {
    const names = lost.map((one) => `${titleOf(one)} (${one.id})`);
    throw new CliError({
      code: 'no_such_id',
      message: listed('pinned to an id that does not exist', names),
      hint: WAYS_OUT.lost,
      exit: 'conflict',
    });
  }
  refuseAmbiguous(ambiguous);
  if (conflicts.length > 0) throw ownedElsewhere(conflicts, followed);
}

/**
 * Refuses to choose among several objects of one declared name.
 *
 * @throws CliError `ambiguous_name` (exit 5)
 */
export function refuseAmbiguous(ambiguous: Plan['ambiguous']): void {
  if (ambiguous.length === 0) return;
  const names = ambiguous.map((one) => `${titleOf(one)} (${one.ids.join(', ')})`);
  throw new CliError({
    code: 'ambiguous_name',
    message: listed('several objects match what is declared', names),
    hint: WAYS_OUT.ambiguous,
    exit: 'conflict',
  });
}

/** Exit 2 when the gateway is not as declared and --exit-code asks for it. */
export function changesExit(made: Plan, flags: FlagValues<readonly [typeof EXIT_CODE]>): number {
  const isDifferent = made.summary.total > 0 || leftOut(made).length > 0;
  return isDifferent && flags['exit-code'] ? EXIT.changes.code : EXIT.ok.code;
}
