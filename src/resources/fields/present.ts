import { toView } from '../store/define-resource.ts';
import type { Dialect } from '../store/dialect.ts';
import type { Stored } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';

/** View of a resource for a caller: fields for administrators are left out for others. */
export function present(
  definition: ResourceDefinition,
  stored: Stored,
  { platform, dialect }: { platform: boolean; dialect?: Dialect | undefined },
): object {
  const view = toView(definition, stored);
  if (platform || !definition.api) return view;
  const { hidden } = definition.api;
  const shown = Object.entries(view).filter(([member]) => !hidden.includes(member));
  const own = Object.fromEntries(shown);
  return dialect?.toItem(own) ?? own;
}
