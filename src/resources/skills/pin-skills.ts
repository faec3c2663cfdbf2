import { GatewayError } from '../../core/errors.ts';
import type { AgentParts } from '../kinds/agent-fields.ts';
import { sameJson } from '../fields/same-json.ts';
import type { Lookup } from '../store/settlement.ts';
import { skillVersionKey } from '../store/storage-keys.ts';

type Skills = AgentParts['skills'];

interface PinOptions {
  /** Skills with the versions that they are pinned to already. */
  former?: Skills | undefined;
  /** Path of the Skills in the body, for messages. */
  prefix?: string;
}

/**
 * Skills with their version; one without takes the latest as it is now.
 *
 * @throws GatewayError `not_found` for an unknown Skill or version
 */
export async function pinSkills(
  skills: Skills,
  lookup: Lookup,
  { former = [], prefix = '' }: PinOptions,
): Promise<Skills> {
  const pinned: Skills = [];
  for (const [index, skill] of skills.entries()) {
    const isKept = former.some((one) => sameJson(one, skill));
    const path = `${prefix}skills[${index}]`;
    pinned.push(isKept ? skill : await pin(skill, lookup, path));
  }
  return pinned;
}

/** Declared Skills as they are compared with those of a view: one without a version is as it is pinned. */
export function asPinned(declared: unknown, shown: unknown): unknown {
  if (!Array.isArray(declared) || !Array.isArray(shown)) return declared;
  return (declared as Skills).map((skill) => {
    const pinned = (shown as Skills).find(({ skill_id: id }) => id === skill.skill_id);
    return { ...skill, version: skill.version ?? pinned?.version };
  });
}

async function pin(skill: Skills[number], lookup: Lookup, path: string): Promise<Skills[number]> {
  const { type, skill_id: target, version } = skill;
  const found = await lookup.find({ kind: 'skill', target, path: `${path}.skill_id` });
  const wanted = version ?? String(found.state['latest_version_id']);
  const exists = await lookup.store.get(skillVersionKey(found.id, wanted));
  if (exists) return { type, skill_id: target, version: wanted };
  const param = `${path}.version`;
  const message = `${param}: skill ${target} has no version ${wanted}`;
  throw new GatewayError('not_found', { message, param });
}
