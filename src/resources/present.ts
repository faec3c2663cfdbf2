import { toView } from './define-resource.ts';
import type { ResourceDefinition, Stored } from './define-resource.ts';

/** How a caller sees a resource: what only administrators see is left out for others. */
export function present(
  definition: ResourceDefinition,
  stored: Stored,
  { platform }: { platform: boolean },
): Record<string, unknown> {
  const view = toView(definition, stored);
  if (platform || !definition.api) return view;
  const { hidden } = definition.api;
  return Object.fromEntries(Object.entries(view).filter(([member]) => !hidden.includes(member)));
}
