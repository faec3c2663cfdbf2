import type { Change } from './changes.ts';
import type { Lifecycle } from '../objects/desired.ts';
import { PROTECTED_LABEL, PRUNE_LABEL } from './ownership.ts';

/** Field of changes to a lifecycle, which labels keep; no field of an object has this name. */
export const LIFECYCLE = 'lifecycle';

const LABELS = { protected: PROTECTED_LABEL, prune: PRUNE_LABEL } as const;

/** Labels that keep a declared lifecycle on the object. */
export function lifecycleLabels({ protected: isProtected, prune }: Lifecycle) {
  return {
    ...(isProtected === true && { [PROTECTED_LABEL]: 'true' }),
    ...(prune !== undefined && { [PRUNE_LABEL]: prune }),
  };
}

/** Labels of an object without those of its lifecycle. */
export function withoutLifecycle(labels: Readonly<Record<string, string>>): Record<string, string> {
  const { [PROTECTED_LABEL]: _protected, [PRUNE_LABEL]: _prune, ...rest } = labels;
  return rest;
}

/** Members of the lifecycle that an object's labels say otherwise than the files. */
export function lifecycleChanges(
  lifecycle: Lifecycle,
  labels: Readonly<Record<string, string>>,
): Change[] {
  const declared: Readonly<Record<string, string>> = lifecycleLabels(lifecycle);
  return Object.entries(LABELS)
    .filter(([, label]) => declared[label] !== labels[label])
    .map(([member, label]) => ({
      path: `lifecycle.${member}`,
      field: LIFECYCLE,
      old: valueOf(labels[label]),
      new: valueOf(declared[label]),
    }));
}

function valueOf(label: string | undefined): unknown {
  return label === 'true' ? true : (label ?? null);
}
