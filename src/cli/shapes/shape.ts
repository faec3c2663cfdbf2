/** A JSON Schema (2020-12) of a part of a document. */
export type Shape = Readonly<Record<string, unknown>>;

export const text: Shape = { type: 'string' };
export const texts: Shape = { type: 'array', items: text };
export const number: Shape = { type: 'number' };
export const count: Shape = { type: 'integer', minimum: 0 };
export const flag: Shape = { type: 'boolean' };
/** Value that the server or another standard describes. */
export const anything: Shape = {};

export function list(items: Shape): Shape {
  return { type: 'array', items };
}

export function oneOf(...shapes: readonly Shape[]): Shape {
  return { anyOf: shapes };
}

export function words(...values: readonly string[]): Shape {
  return { enum: values };
}

export function orNull(shape: Shape): Shape {
  return oneOf(shape, { type: 'null' });
}

/** An object with these members; later versions may add others. */
export function record(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}
