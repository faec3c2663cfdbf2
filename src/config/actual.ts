import { keyIdentity } from './desired.ts';
import type { KindName } from './kinds.ts';
import { isRecord } from './record.ts';

/** An object as the API shows it. */
export interface View extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly version: number;
}

/** Every object of every kind that there is. */
export type ActualState = Readonly<Record<KindName, readonly View[]>>;

/** The name that declarations know the object by. */
export function identityOf(kind: KindName, view: View, actual: ActualState): string {
  const name = String(view['name']);
  return kind === 'key' ? keyIdentity(organizationOf(view, actual)?.['name'], name) : name;
}

/** The objects that a declaration means; it may name an organization by name or id. */
export function findActual(kind: KindName, identity: string, actual: ActualState): View[] {
  return actual[kind].filter((view) => {
    if (identityOf(kind, view, actual) === identity) return true;
    const id = kind === 'key' ? organizationOf(view, actual)?.id : undefined;
    return id !== undefined && `${id}/${String(view['name'])}` === identity;
  });
}

/** Views name the organization by id, by name, or as an object with both. */
function organizationOf({ organization }: View, actual: ActualState): View | undefined {
  const named = isRecord(organization) ? organization['id'] : organization;
  return actual.organization.find(({ id, name }) => id === named || name === named);
}
