import { titleOf } from '../../../config/objects/kinds.ts';
import { type ActualState, findDeclared, type View } from '../../../config/actual/actual.ts';
import { nameOrganizations } from '../../../config/actual/name-organizations.ts';
import { repeatedObjects } from '../../../config/plan/check-online.ts';
import { counted } from '../../../core/counted.ts';
import { readActual } from '../../../config/apply/apply.ts';
import type { DesiredObject, DesiredState } from '../../../config/objects/desired.ts';
import { keepInventory } from '../../../config/apply/keep-inventory.ts';
import {
  labelsOf,
  NAMESPACE_LABEL,
  type Owner,
  ownerName,
  ownershipOf,
} from '../../../config/actual/ownership.ts';
import { ownerFor } from '../../../config/plan/plan.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import { usageError } from '../../cli-error.ts';
import { ownedElsewhere } from '../../project/followed.ts';
import { refuseAmbiguous } from '../../project/make-plan.ts';
import { invalidConfig, projectFile, withProject } from '../../project/project.ts';
import { requireRights } from '../../project/require-rights.ts';
import type { RunOf } from '../../commands.ts';

/** A declared object and the existing one. */
interface Candidate {
  object: DesiredObject;
  view: View;
}

const NONE = { applied: [], failed: [], blocked: [], notRun: [] };

export const run: RunOf<'adopt'> = (input) =>
  withProject(input, async ({ desired: declared }) => {
    const { rest, context } = input;
    const client = await context.connect({ near: projectFile(input) });
    const resources = toResourceClient(client);
    const actual = await readActual(resources, declared);
    const desired = nameOrganizations(declared, actual);
    const repeated = repeatedObjects(desired);
    if (repeated.length > 0) return invalidConfig(repeated);
    const wanted = rest.length === 0 ? desired.objects : rest.map((name) => pick(name, desired));
    const found = lookUp(wanted, actual);
    const { namespace } = desired;
    const inventories = (await resources.inventories?.list()) ?? [];
    const owner = ownerFor({ desired, mode: 'apply', inventories });
    refuseOwned(
      found.filter(({ view }) => ownershipOf(view, owner) === 'other'),
      owner,
    );
    const free = found.filter(({ view }) => ownershipOf(view, owner) === 'none');
    if (free.length > 0) {
      const kinds = free.map(({ object }) => object.kind);
      await requireRights(client, { kinds, signal: context.signal });
      const names = free.map(({ object }) => titleOf(object));
      context.output.note(`target: ${client.baseUrl}\n${names.join('\n')}`);
      await context.confirm(`Take ${counted(free.length, 'object')} into namespace ${namespace}?`);
    }
    for (const { object, view } of free) {
      const body = { labels: { ...labelsOf(view), [NAMESPACE_LABEL]: namespace } };
      await resources.update(object.kind, view.id, { body, expectedVersion: view.version });
    }
    if (free.length > 0) {
      const read = () => readActual(resources, desired);
      const left = await read();
      await keepInventory(resources, namespace, {
        desired,
        owner,
        found: actual,
        left,
        read,
        report: NONE,
      });
    }
    const adopted = free.map(({ object: { kind, identity }, view: { id } }) => ({
      kind,
      identity,
      id,
    }));
    return {
      data: { namespace, adopted, missing: wanted.length - found.length },
      text: [
        ...adopted.map((one) => `adopted ${titleOf(one)}`),
        `${adopted.length} adopted, ${found.length - free.length} were of the namespace already`,
      ].join('\n'),
    };
  });

/** Finds the existing object of each declared one; refuses several for one. */
function lookUp(wanted: readonly DesiredObject[], actual: ActualState): Candidate[] {
  const matches = wanted.map((object) => ({ object, views: findDeclared(object, actual) }));
  refuseAmbiguous(
    matches
      .filter(({ views }) => views.length > 1)
      .map(({ object: { kind, identity }, views }) => {
        return { kind, identity, ids: views.map(({ id }) => id) };
      }),
  );
  return matches.flatMap(({ object, views }) => views.map((view) => ({ object, view })));
}

function pick(name: string, { objects }: DesiredState): DesiredObject {
  const [kind = '', ...rest] = name.split('/');
  const identity = rest.join('/');
  const found = objects.find(
    (object) => object.kind === kind && [object.identity, object.name].includes(identity),
  );
  if (found !== undefined) return found;
  throw usageError(`${name} is not declared`, 'name it as KIND/NAME, like model/acme/fast');
}

function refuseOwned(owned: readonly Candidate[], { known }: Owner): void {
  if (owned.length === 0) return;
  const conflicts = owned.map(({ object: { kind, identity }, view }) => {
    return { kind, identity, id: view.id, owner: ownerName(view, known) };
  });
  throw ownedElsewhere(conflicts, undefined);
}
