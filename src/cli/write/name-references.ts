import { CONFIG_KINDS, kindOf, type KindName } from '../../config/objects/kinds.ts';
import type { Spec } from '../../resources/store/stored.ts';
import { toMemberPath, setMember } from './set-member.ts';

/**
 * The entry with `${ref:agent.NAME.id}` in place of a name where an id is kept: the form of files,
 * which is compared. An entry against the schema stays as it is, for the checks to report.
 */
export function withReferences(
  kind: KindName,
  entry: Record<string, unknown>,
): Record<string, unknown> {
  const { definition } = kindOf(kind);
  const parsed = definition.fields.safeParse(entry);
  if (!parsed.success) return entry;
  const changed = structuredClone(entry);
  for (const { kind: type, target, path } of definition.refs(parsed.data as Spec)) {
    const named = CONFIG_KINDS.find((one) => one.definition.kind === type);
    if (named === undefined || !path.endsWith('_id') || /[{}]/.test(target)) continue;
    if (target.startsWith(`${named.definition.idPrefix}_`)) continue;
    const value = `\${ref:${named.kind}.${target}.id}`;
    setMember(changed, toMemberPath(path, path), { value, flag: path });
  }
  return changed;
}
