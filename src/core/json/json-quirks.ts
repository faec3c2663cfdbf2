import type { Buffer } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import type { JsonMember } from './json-member.ts';
import type { JsonEdit } from './splice.ts';
import type { Quirks } from './quirks.ts';

/** First byte of `null`. */
const NULL = 0x6e;

/**
 * The edits that give a request body the shape a provider needs: drops, then renames (the old name
 * goes when the new one is there already and is not null), then defaults, so dropping and defaulting
 * one name forces its value.
 *
 * @throws GatewayError `unsupported_feature` with `param` for a member that the provider refuses and
 *   that is not dropped
 */
export function quirkEdits(
  body: Buffer,
  members: readonly JsonMember[],
  quirks: Quirks,
): JsonEdit[] {
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
    const isTaken = keys.has(to);
    if (isTaken && !isNull(body, members, to)) edits.push({ op: 'remove', key });
    else {
      if (isTaken) edits.push({ op: 'remove', key: to });
      edits.push({ op: 'rename', key, to });
    }
    keys.add(to);
  }
  for (const [key, value] of Object.entries(quirks.default ?? {})) {
    if (!keys.has(key)) edits.push({ op: 'set', key, json: JSON.stringify(value) });
  }
  return edits;
}

function isNull(body: Buffer, members: readonly JsonMember[], key: string): boolean {
  const member = members.findLast((one) => one.key === key);
  return member !== undefined && body[member.valueStart] === NULL;
}

function unsupported(param: string): GatewayError {
  const message = `no route of this model supports \`${param}\``;
  return new GatewayError('unsupported_feature', { message, param });
}
