import { factsOf, isListed, kindsWhere, type Collection } from '../../core/kinds.ts';
import { definitionOf } from '../../resources/registry.ts';
import { viewSchema } from '../../resources/store/view-schema.ts';
import { FAULTY } from './config-shapes.ts';
import { list, oneOf, record, text } from './shape.ts';
import type { Shape } from './shape.ts';

/** Shape of an object that `delete` has removed. */
const REMOVED = record({ id: text });

/** Shape of one object of a kind, as administrators see it. */
export function viewOf(collection: Collection): Shape {
  return viewSchema(definitionOf(collection));
}

/** The `data` of the plain commands of every kind. */
export function kindShapes(): Record<string, Shape> {
  const all = kindsWhere(isListed).map((collection) => {
    const { verbs } = factsOf(collection);
    return group(collection, viewOf(collection), verbs);
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
