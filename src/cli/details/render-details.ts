import { isRecord } from '../../client/http/guards.ts';
import { NAMESPACE_LABEL, OWNER_LABEL } from '../../config/actual/ownership.ts';
import type { Style } from '../output/style.ts';
import { renderFields } from '../output/table.ts';
import { toLine } from './nested-text.ts';
import { isReference, nameAndId, nameMember } from './references.ts';

type View = Readonly<Record<string, unknown>>;

const OWN_LABELS = 'gateway/';

/**
 * One object for people: the managing files in place of the gateway's own labels, and names before
 * the ids where the names are known.
 */
export function renderDetails(view: View, style: Style): string {
  const rows: Record<string, unknown> = {};
  const names = new Set(Object.keys(view).filter(isReference).map(nameMember));
  for (const [member, value] of Object.entries(view)) {
    if (member === 'agent' && isRecord(value)) {
      rows['agent'] = agentText(value, view['agent_name']);
      continue;
    }
    if ((member === 'agent_id' || member === 'agent_name') && isRecord(view['agent'])) continue;
    const name = isReference(member) ? view[nameMember(member)] : undefined;
    if (member === 'labels' && isRecord(value)) Object.assign(rows, labelRows(value));
    else if (typeof name === 'string') rows[stem(member)] = nameAndId(name, String(value));
    else if (!names.has(member)) rows[member] = value;
  }
  return renderFields(rows, style);
}

/** `name (id), version 2`; an Agent of a declarative runtime has neither id nor version. */
function agentText(agent: View, found: unknown): string {
  const { id, name = found, version } = agent;
  const called = typeof id === 'string' ? nameAndId(name, id) : toLine(name);
  return typeof version === 'number' ? `${called}, version ${version}` : called;
}

function labelRows(labels: Readonly<Record<string, unknown>>): View {
  const entries = Object.entries(labels).filter(([label]) => !label.startsWith(OWN_LABELS));
  const namespace = labels[NAMESPACE_LABEL];
  const file = labels[OWNER_LABEL];
  const owner = namespace === undefined ? file : `namespace ${toLine(namespace)}`;
  return {
    labels: Object.fromEntries(entries),
    ...(owner !== undefined && { managed_by: owner }),
  };
}

function stem(member: string): string {
  return member.replace(/_id$/, '');
}
