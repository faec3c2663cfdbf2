import { readActual } from '../config/apply.ts';
import type { GatewayConfig } from '../config/load-config.ts';
import type { ResourceClient } from '../config/resource-client.ts';
import { plan, type Plan, type PlanOptions } from '../config/plan.ts';
import { CliError } from './cli-error.ts';
import type { Flags } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { secretOf } from './written-secret.ts';

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

/** The options of plan and apply that decide what is changed. */
export function planChoice(flags: Flags): PlanChoice {
  return {
    prune: flags.on('prune'),
    adopt: flags.on('adopt'),
    writeSecrets: flags.list('write-secret'),
  };
}

/**
 * Reads the gateway and compares. Throws `ambiguous_name` and `owned_elsewhere` (exit 5), since what
 * the files say could not become true.
 */
export async function makePlan(
  { config, resources, server }: PlanSources,
  choice: PlanChoice,
): Promise<{ options: PlanOptions; plan: Plan }> {
  const { desired } = config;
  const actual = await readActual(resources, desired);
  const options: PlanOptions = {
    desired,
    actual,
    mode: choice.prune ? 'prune' : 'apply',
    // The admin API sees every organization, so the plan is bound to none of them.
    target: { server, organization: '*' },
    adopt: choice.adopt,
    writeSecrets: new Set(choice.writeSecrets.map((named) => secretOf(named, { desired, actual }))),
  };
  const made = plan(options);
  refuse(made);
  return { options, plan: made };
}

function refuse({ ambiguous, conflicts, fixed }: Plan): void {
  if (ambiguous.length > 0) {
    const names = ambiguous.map(
      ({ kind, identity, ids }) => `${kind} ${identity} (${ids.join(', ')})`,
    );
    throw new CliError({
      code: 'ambiguous_name',
      message: `several objects are what is declared: ${names.join('; ')}`,
      hint: 'give them names of their own, or remove what is not wanted',
      exit: 'conflict',
    });
  }
  if (conflicts.length > 0) {
    const names = conflicts.map(({ kind, identity, owner }) => `${kind} ${identity} (of ${owner})`);
    throw new CliError({
      code: 'owned_elsewhere',
      message: `declared here but managed elsewhere: ${names.join('; ')}`,
      hint: 'declare each object in one place only',
      exit: 'conflict',
    });
  }
  if (fixed.length > 0) {
    const names = fixed.map(
      ({ kind, identity, fields }) => `${kind} ${identity} (${fields.join(', ')})`,
    );
    throw new CliError({
      code: 'immutable_field',
      message: `declared otherwise than it can become: ${names.join('; ')}`,
      hint: 'declare a new object under another name; --prune ends the old one',
      exit: 'conflict',
    });
  }
}

/** Exit 2 for changes, when --exit-code asks for it. */
export function changesExit(made: Plan, flags: Flags): number {
  return made.summary.total > 0 && flags.on('exit-code') ? EXIT.changes.code : EXIT.ok.code;
}
