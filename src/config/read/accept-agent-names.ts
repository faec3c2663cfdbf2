import { CONFIG_KINDS, kindOf } from '../objects/kinds.ts';
import { namedObjects } from '../objects/named-objects.ts';
import { ObjectRef } from '../objects/references.ts';
import { entriesOf, type Tree } from './declared-names.ts';

/**
 * Reads the name of an Agent in `agent_id` as a reference, `${ref:agent.NAME.id}`, in place. A text in the
 * form of an id stays, unless a declared Agent has it as its name.
 */
export function acceptAgentNames(tree: Tree): void {
  const names = new Set(entriesOf(tree, 'agents').map(([, { name }]) => String(name).trim()));
  const idPrefix = `${kindOf('agent').definition.idPrefix}_`;
  for (const { kind, collection } of CONFIG_KINDS) {
    for (const [, entry] of entriesOf(tree, collection)) {
      for (const { path, kind: target, name, isReference } of namedObjects(kind, entry)) {
        const [member = '', ...below] = path;
        if (target !== 'agent' || isReference || below.length > 0) continue;
        if (name === '' || (name.startsWith(idPrefix) && !names.has(name))) continue;
        (entry as Record<PropertyKey, unknown>)[member] = new ObjectRef('agent', name, 'id');
      }
    }
  }
}
