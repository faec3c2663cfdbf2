import { identityOf } from '../../config/actual/actual.ts';
import { nameOrganizations } from '../../config/actual/name-organizations.ts';
import { readActual } from '../../config/apply/apply.ts';
import {
  checkDangling,
  repeatedObjects,
  type TakenSlug,
  takenSlugs,
} from '../../config/plan/check-online.ts';
import { formatDiagnostics } from '../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { ResourceClient } from '../../config/actual/resource-client.ts';
import { ownershipOf } from '../../config/actual/ownership.ts';
import { WAYS_OUT } from '../../config/plan/obstacles.ts';
import { ownerFor, plan, type Plan, type PlanOptions } from '../../config/plan/plan.ts';
import { CliError } from '../cli-error.ts';
import type { FlagValues } from '../grammar/flags.ts';
import { EXIT } from '../exit-codes.ts';
import { secretOf } from '../input/written-secret.ts';
import type { CHOICE, EXIT_CODE } from '../tables/config-words.ts';

export interface PlanSources {
  config: GatewayConfig;
  resources: ResourceClient;
  server: string;
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
export async function makePlan(
  sources: PlanSources,
  choice: PlanChoice,
): Promise<{ options: PlanOptions; plan: Plan }> {
  const made = await comparePlan(sources, choice);
  refuse(made.plan);
  refuseImpossible(made.options);
  return made;
}

/** Reads the gateway and compares, whatever comes of it. */
export async function comparePlan(
  { config, resources, server }: PlanSources,
  choice: PlanChoice,
): Promise<{ options: PlanOptions; plan: Plan }> {
  const actual = await readActual(resources, config.desired);
  const desired = nameOrganizations(config.desired, actual);
  const options: PlanOptions = {
    desired,
    actual,
    inventories: (await resources.inventories?.list()) ?? [],
    mode: choice.prune ? 'prune' : 'apply',
    // The admin API sees every organization, so the plan is bound to none of them.
    target: { server, organization: '*' },
    adopt: choice.adopt,
    writeSecrets: new Set(choice.writeSecrets.map((named) => secretOf(named, { desired, actual }))),
  };
  return { options, plan: plan(options) };
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

function refuse({ ambiguous, conflicts, fixed, lost }: Plan): void {
  if (lost.length > 0) {
    const names = lost.map(({ kind, identity, id }) => `${kind} ${identity} (${id})`);
    throw new CliError({
      code: 'no_such_id',
      message: `pinned to an id that does not exist: ${names.join('; ')}`,
      hint: WAYS_OUT.lost,
      exit: 'conflict',
    });
  }
  refuseAmbiguous(ambiguous);
  if (conflicts.length > 0) {
    const names = conflicts.map(({ kind, identity, owner }) => `${kind} ${identity} (of ${owner})`);
    throw new CliError({
      code: 'owned_elsewhere',
      message: `declared here but managed elsewhere: ${names.join('; ')}`,
      hint: 'declare each object in one place only, or give it to this one with `gateway transfer`',
      exit: 'conflict',
    });
  }
  if (fixed.length > 0) {
    const names = fixed.map(
      ({ kind, identity, fields }) => `${kind} ${identity} (${fields.join(', ')})`,
    );
    throw new CliError({
      code: 'immutable_field',
      message: `declared with a change that is not possible: ${names.join('; ')}`,
      hint: WAYS_OUT.fixed,
      exit: 'conflict',
    });
  }
}

/**
 * Refuses to choose among several objects of one declared name.
 *
 * @throws CliError `ambiguous_name` (exit 5)
 */
export function refuseAmbiguous(ambiguous: Plan['ambiguous']): void {
  if (ambiguous.length === 0) return;
  const names = ambiguous.map(
    ({ kind, identity, ids }) => `${kind} ${identity} (${ids.join(', ')})`,
  );
  throw new CliError({
    code: 'ambiguous_name',
    message: `several objects match what is declared: ${names.join('; ')}`,
    hint: WAYS_OUT.ambiguous,
    exit: 'conflict',
  });
}

/** Exit 2 for changes, when --exit-code asks for it. */
export function changesExit(made: Plan, flags: FlagValues<readonly [typeof EXIT_CODE]>): number {
  return made.summary.total > 0 && flags['exit-code'] ? EXIT.changes.code : EXIT.ok.code;
}
