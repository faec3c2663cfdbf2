/** An entry of the audit log. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string };
  readonly from: { readonly address: string | null; readonly client: string | null };
  readonly action: string;
  readonly object: { readonly kind: string; readonly id: string; readonly name: string | null };
  /** Null where a member was or is not there; secrets are masked. */
  readonly changes: readonly {
    readonly path: string;
    readonly old: unknown;
    readonly new: unknown;
  }[];
  readonly request_id: string | null;
}

export interface Change {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** Changes as words; an absent value is empty. */
export function toChanges({ changes }: AuditEntry): Change[] {
  return changes.map(({ path, old, new: next }) => ({
    field: path,
    before: toText(old),
    after: toText(next),
  }));
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
