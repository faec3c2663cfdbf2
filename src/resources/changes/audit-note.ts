import { GATEWAY_ORIGIN } from '../../audit/audit-entry.ts';
import type { AuditNote, FieldChange, Origin } from '../../audit/audit-entry.ts';
import { changedFields, MASK } from '../../audit/changed-fields.ts';
import { toView } from '../store/define-resource.ts';
import type { Stored } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';

/** Members of a view that are no part of the action. */
const ASIDE: ReadonlySet<string> = new Set(['id', 'type', 'version', 'created_at', 'updated_at']);

export interface ResourceAction {
  /** Absent at creation. */
  readonly before?: Stored;
  /** Absent at removal. */
  readonly next?: Stored;
  readonly action: string;
  readonly by: Origin | undefined;
}

/** Note of what an action made of a resource, without its secrets. */
export function toAuditNote(
  definition: ResourceDefinition,
  { before, next, action, by = GATEWAY_ORIGIN }: ResourceAction,
): AuditNote {
  const stored = next ?? before;
  if (!stored) throw new Error('an action without a resource');
  const { id, kind, organization, spec } = stored;
  return {
    origin: by,
    action,
    object: { kind, id, name: typeof spec.name === 'string' ? spec.name : null },
    organization: kind === 'organization' ? id : organization,
    changes: [
      ...changedFields(membersOf(definition, before), membersOf(definition, next)),
      ...changedSecrets(definition, before, next),
    ],
  };
}

function membersOf(
  definition: ResourceDefinition,
  stored: Stored | undefined,
): Record<string, unknown> | undefined {
  if (!stored) return undefined;
  const members = Object.entries(toView(definition, stored));
  return Object.fromEntries(members.filter(([name]) => !ASIDE.has(name)));
}

/** Secrets that were set, replaced or removed; the hint shows those that are not kept. */
function changedSecrets(
  { secrets }: ResourceDefinition,
  before: Stored | undefined,
  next: Stored | undefined,
): FieldChange[] {
  return secrets.flatMap((path) => {
    const [old, now] = [before?.sealed[path], next?.sealed[path]];
    const shown = (sealed: string | undefined) => (sealed === undefined ? null : MASK);
    return old === now ? [] : [{ path, old: shown(old), new: shown(now) }];
  });
}
