import type { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';
import { readInSlices } from '../../core/json/json-document.ts';
import type { ValueBound } from '../../core/json/json-document.ts';
import type { Body, Spec } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';

/**
 * The object that a body holds; where it is `optional`, none is an empty one.
 *
 * @throws GatewayError `invalid_json`, and `invalid_request` for more values than the bound
 */
export async function readObject(
  bytes: Buffer,
  { optional = false, values }: { optional?: boolean; values: ValueBound },
): Promise<Body> {
  if (optional && bytes.length === 0) return {};
  return readInSlices(bytes, { values });
}

/** A body with the spellings of views, and others, turned into those of the declared fields. */
export function withoutAliases({ aliases, kind, read }: ResourceDefinition, body: Body): Body {
  const result: Record<string, unknown> = { ...(read?.(body) ?? body) };
  for (const [alias, field] of Object.entries(aliases)) {
    // A view that is sent back names its kind in `type`, and the field by its alias.
    if (result[field] === kind) delete result[field];
    if (alias in result) result[field] ??= result[alias];
    delete result[alias];
  }
  return result;
}

/**
 * The declared fields of a body, normalised and with defaults; unknown members are left out.
 *
 * @throws GatewayError `invalid_request` for wrong types and missing fields, `unprocessable` for
 *   well-formed values without meaning; `param` is the path of the first fault
 */
export function parseSpec({ fields }: ResourceDefinition, body: Body): Spec {
  return parseFields(fields, body) as Spec;
}

/** Parses fields below `prefix` of a body, as {@link parseSpec} does. */
export function parseFields(fields: z.ZodObject, body: Body, prefix = ''): Record<string, unknown> {
  const parsed = fields.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(nearest);
  const first = issues.find((issue) => !isMeaningless(issue)) ?? issues[0]!;
  const path = formatPath(pathOf(first));
  const param = path === '' ? path : prefix + path;
  const message = textOf(first);
  throw new GatewayError(isMeaningless(first) ? 'unprocessable' : 'invalid_request', {
    message: param === '' ? message : `${param}: ${message}`,
    param,
  });
}

function textOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_value') return issue.message;
  return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
}

/** A member that must not be there is at fault, not the object that has it. */
function pathOf(issue: z.core.$ZodIssue): readonly PropertyKey[] {
  return issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path;
}

/** Fault of the alternative of a union that the value came closest to. */
function nearest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const faults = issue.errors.flatMap((alternative) => alternative.slice(0, 1).map(nearest));
  const found = faults.find(isMeaningless) ?? faults.find((fault) => pathOf(fault).length > 0);
  return found ? { ...found, path: [...issue.path, ...found.path] } : issue;
}

/** Numbers out of range and text in a wrong form have the right type, but no meaning. */
function isMeaningless(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'custom') return issue.params?.['unprocessable'] === true;
  if (issue.code === 'invalid_format') return true;
  return (issue.code === 'too_small' || issue.code === 'too_big') && issue.origin === 'number';
}

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? String(step) : `.${String(step)}`,
    )
    .join('');
}
