import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { GatewayError } from '../../core/errors.ts';
import { agentParts, checkAgentParts } from './agent-fields.ts';
import type { AgentParts, OperatorNames } from './agent-fields.ts';
import { asPinned, pinSkills } from '../skills/pin-skills.ts';
import type { Draft, Lookup } from '../store/settlement.ts';

type Fields = Readonly<Record<string, unknown>>;
export type DeclaredRuntime = AgentParts & { type: string };

/** Runtime in place of an Agent (contract: Services, Schedules). */
export const declaredRuntime = once(() =>
  z.object({
    type: z
      .string()
      .refine((value) => value === 'agent', {
        error: 'the only supported type is `agent`',
        params: { unprocessable: true },
      })
      .describe('agent.'),
    ...agentParts(),
  }),
);

export function runtimeOf(spec: Fields): DeclaredRuntime | null {
  return spec['runtime'] as DeclaredRuntime | null;
}

/** True for fields that would turn an Agent into a runtime or back, which no update does. */
export function isModeSwitch(field: string, view: Fields): boolean {
  const isDeclarative = (view['runtime'] ?? null) !== null;
  return field === 'runtime' || (field === 'agent_id' && isDeclarative);
}

/**
 * Makes sure that a spec has either an Agent or a runtime, and that the runtime makes one.
 *
 * @throws GatewayError `invalid_request`; `unprocessable` for a name that the operator did not declare
 */
export function checkRunnable(spec: Fields, operator?: OperatorNames): void {
  const declared = runtimeOf(spec);
  if (declared !== null && spec['agent_id'] !== null) {
    const message = 'runtime: cannot be combined with agent_id';
    throw new GatewayError('invalid_request', { message, param: 'runtime' });
  }
  if (declared !== null) checkAgentParts(declared, 'runtime.', operator);
  else if (spec['agent_id'] === null) {
    const message = 'agent_id: an Agent or a runtime is required';
    throw new GatewayError('invalid_request', { message, param: 'agent_id' });
  }
}

/** Its Skills with their versions. @throws GatewayError `not_found` for an unknown Skill or version */
export async function pinRuntime(
  declared: DeclaredRuntime,
  { before }: Draft,
  lookup: Lookup,
): Promise<DeclaredRuntime> {
  const options = { former: before && runtimeOf(before.spec)?.skills, prefix: 'runtime.' };
  return { ...declared, skills: await pinSkills(declared.skills, lookup, options) };
}

/** Form of a declared runtime in which plan compares it with the one that a view shows. */
export function comparableRuntime(declared: unknown, shown: unknown): unknown {
  const [given, pinned] = [declared, shown] as ({ skills?: unknown } | null | undefined)[];
  return given && { ...given, skills: asPinned(given.skills, pinned?.skills) };
}
