import type { z } from 'zod';
import type { Path } from './locate.ts';

/** A member that its object's schema does not have. */
export interface UnknownField {
  readonly path: Path;
  readonly name: string;
  /** The fields there are. */
  readonly known: readonly string[];
}

interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  catchall?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  options?: readonly z.ZodType[];
}

/**
 * Finds and removes, in place, every member that no branch of the schema names. Resource bodies of
 * the API ignore such members; in a file they are spelling mistakes.
 */
export function removeUnknownFields(schema: z.ZodType, value: unknown): UnknownField[] {
  return walk(branches(schema), value, []);
}

function walk(definitions: readonly Definition[], value: unknown, path: Path): UnknownField[] {
  if (Array.isArray(value)) {
    const elements = definitions.flatMap(({ element }) => branches(element));
    return value.flatMap((member, index) => walk(elements, member, [...path, index]));
  }
  if (typeof value !== 'object' || value === null) return [];
  const objects = definitions.filter(({ shape }) => shape !== undefined);
  const isOpen = definitions.some(
    ({ type, catchall }) =>
      type === 'record' ||
      (catchall !== undefined && catchall.def.type !== 'never') ||
      OPAQUE.has(type),
  );
  const known = objects.flatMap(({ shape }) => Object.keys(shape ?? {}));
  const unknown: UnknownField[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (!isOpen && objects.length > 0 && !known.includes(name)) {
      unknown.push({ path, name, known });
      delete (value as Record<string, unknown>)[name];
      continue;
    }
    const inner = definitions.flatMap(({ shape, valueType }) =>
      branches(shape?.[name] ?? valueType),
    );
    unknown.push(...walk(inner, member, [...path, name]));
  }
  return unknown;
}

/** Schemas that do not define the members of an object. */
const OPAQUE = new Set(['any', 'unknown', 'custom', 'lazy']);

/** The definitions that a value may follow, without defaults, transforms and the like around them. */
function branches(schema: z.ZodType | undefined): Definition[] {
  if (schema === undefined) return [];
  const definition = schema.def as unknown as Definition;
  if (definition.options !== undefined)
    return definition.options.flatMap((option) => branches(option));
  const inner = definition.innerType ?? definition.in;
  return inner === undefined ? [definition] : branches(inner);
}
