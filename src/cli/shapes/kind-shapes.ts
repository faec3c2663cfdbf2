import { factsOf, isListed, kindsWhere, type Collection } from '../../core/kinds.ts';
import { definitionOf } from '../../resources/registry.ts';
import { viewSchema } from '../../resources/store/view-schema.ts';
import { FAULTY } from './config-shapes.ts';
import { list, oneOf, record, text } from './shape.ts';
import type { Shape } from './shape.ts';

/** Shape of an object that `delete` has removed. */
const REMOVED = record({ id: text });

/** Members of `list` and `get` that name what an object refers to by id, where the key may see it. */
const NAMES = record({}, { organization_name: text, agent_name: text });

/** Shape of one object of a kind, as administrators see it. */
export function viewOf(collection: Collection): Shape {
  return viewSchema(definitionOf(collection));
}

/** The `data` of the plain commands of every kind. */
export function kindShapes(): Record<string, Shape> {
  const all = kindsWhere(isListed).map((collection) => {
    const { verbs, isOwned } = factsOf(collection);
    const view = viewOf(collection);
    const named = isOwned ? { allOf: [view, NAMES] } : view;
    return {
      ...group(collection, view, verbs),
      ...group(
        collection,
        named,
        verbs.filter((verb) => verb === 'list' || verb === 'get'),
      ),
    };
  });
  return Object.assign({}, ...all) as Record<string, Shape>;
}

/** `group list` gives many of what the other words give one of; `create` and `update` may give faults. */
export function group(name: string, view: Shape, verbs: readonly string[]): Record<string, Shape> {
  const shapes: Readonly<Record<string, Shape>> = {
    list: list(view),
    create: oneOf(view, FAULTY),
    update: oneOf(view, FAULTY),
    delete: REMOVED,
  };
  return Object.fromEntries(verbs.map((verb) => [`${name} ${verb}`, shapes[verb] ?? view]));
}
