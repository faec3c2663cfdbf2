/** Answer to files that were pasted: their faults, and the changes they would make. */
export interface ConfigurationPlan {
  readonly diagnostics: readonly {
    readonly file?: string;
    readonly line?: number;
    readonly column?: number;
    readonly path: string;
    readonly severity: 'error' | 'warning';
    readonly message: string;
    readonly hint?: string;
  }[];
  readonly plan: {
    readonly actions: readonly PlanAction[];
    readonly conflicts?: readonly { kind: string; identity: string; owner: string }[];
  } | null;
}

export interface PlanAction {
  readonly kind: string;
  readonly identity: string;
  readonly action: string;
  readonly reason: string;
  /** `origin` is `server` or `both` where the server has drifted from the applied configuration. */
  readonly changes: readonly { path: string; old?: unknown; new?: unknown; origin?: string }[];
}

/** One line of a plan: a changed field, or an object without its fields. */
export interface PlanRow {
  readonly action: string;
  readonly object: string;
  readonly field: string;
  readonly before: string;
  readonly after: string;
  readonly isDrift: boolean;
  /** True for the first line of an object. */
  readonly isFirst: boolean;
}

/** A plan line by line, without what stays as it is. */
export function toPlanRows({ plan }: ConfigurationPlan): PlanRow[] {
  return (plan?.actions ?? [])
    .filter(({ action }) => action !== 'none')
    .flatMap(({ kind, identity, action, changes }) => {
      const object = `${kind} ${identity}`;
      if (changes.length === 0) {
        const none = { field: '', before: '', after: '', isDrift: false, isFirst: true };
        return [{ action, object, ...none }];
      }
      return changes.map(({ path, old, new: next, origin }, index) => ({
        action,
        object,
        field: path,
        before: textOf(old),
        after: textOf(next),
        isDrift: origin === 'server' || origin === 'both',
        isFirst: index === 0,
      }));
    });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
