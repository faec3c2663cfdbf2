/**
 * Public parts of a JSON value. Strings, numbers, booleans and null are public in every position of
 * the shape; objects and arrays are where the shape includes them.
 */
export interface Shape {
  /** Everything inside is the user's or the model's own. */
  readonly free?: true;
  /** Shape of each element of an array. */
  readonly element?: Shape;
  /** Shape of each member of an object whose names are the user's. */
  readonly every?: Shape;
  /** Shapes of the members of an object, by name. */
  readonly members?: ReadonlyMap<string, Shape>;
  /** Shapes of an object, by its `type`. */
  readonly kinds?: ReadonlyMap<string, Shape>;
  /** The value may be replaced under this name. */
  readonly slot?: string;
}

type Members = Readonly<Record<string, Shape>>;

const SCALAR: Shape = {};

/** User-supplied schemas, maps of scalars under the user's names, and what the type leaves open. */
export const FREE: Shape = { free: true };

/** Scalars and arrays of them. */
export const TEXTS: Shape = { element: SCALAR };

export function list(element: Shape): Shape {
  return { element };
}

/** `scalars` names the members that hold strings, numbers and booleans, separated by blanks. */
export function object(scalars: string, members: Members = {}): Shape {
  const names = scalars.split(' ').filter((name) => name !== '');
  const all = names.map((name): [string, Shape] => [name, SCALAR]);
  return { members: new Map([...all, ...Object.entries(members)]) };
}

/** An object whose names are the user's. */
export function map(every: Shape): Shape {
  return { every };
}

/** Objects told apart by their `type`; `untyped` is the one that may leave it out. */
export function union(kinds: Members, untyped?: Shape): Shape {
  const entries = Object.entries(kinds).map(([type, shape]) => [type, typed(shape)] as const);
  return { kinds: new Map(entries), ...(untyped && typed(untyped)) };
}

function typed({ members = new Map() }: Shape): Shape {
  return { members: new Map([...members, ['type', SCALAR]]) };
}

/** A value that has one shape as an array and another one as an object. */
export function either(array: Shape, other: Shape): Shape {
  return { ...other, ...array };
}

export function slot(name: string): Shape {
  return { slot: name };
}
