import { GatewayError } from '../errors.ts';
import type { JsonMember } from './json-member.ts';
import type { JsonEdit } from './splice.ts';
import type { Quirks } from './quirks.ts';

/**
 * The edits that give a request body the shape a provider needs: drops, then renames (the old name
 * goes when the new one is there already), then defaults, so dropping and defaulting one name forces
 * its value.
 *
 * @throws GatewayError `unsupported_feature` with `param` for a member that the provider refuses and
 *   that is not dropped
 */
export function quirkEdits(members: readonly JsonMember[], quirks: Quirks): JsonEdit[] {
  const keys = new Set(members.map(({ key }) => key));
  const edits: JsonEdit[] = [];
  for (const key of quirks.drop ?? []) {
    if (keys.delete(key)) edits.push({ op: 'remove', key });
  }
  for (const key of quirks.refuse ?? []) {
    if (keys.has(key)) throw unsupported(key);
  }
  for (const [key, to] of Object.entries(quirks.rename ?? {})) {
    if (!keys.delete(key)) continue;
    edits.push(keys.has(to) ? { op: 'remove', key } : { op: 'rename', key, to });
    keys.add(to);
  }
  for (const [key, value] of Object.entries(quirks.default ?? {})) {
    if (!keys.has(key)) edits.push({ op: 'set', key, json: JSON.stringify(value) });
  }
  return edits;
}

function unsupported(param: string): GatewayError {
  const message = `no route of this model supports \`${param}\``;
  return new GatewayError('unsupported_feature', { message, param });
}
