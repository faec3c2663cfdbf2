import type { z } from 'zod';
import { GatewayError } from '../core/errors.ts';
import type { ResourceDefinition, Spec } from './define-resource.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A body with the spellings of views turned into those of the declared fields. */
export function withoutAliases({ aliases, kind }: ResourceDefinition, body: Body): Body {
  const result: Record<string, unknown> = { ...body };
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
  const parsed = fields.safeParse(body);
  if (parsed.success) return parsed.data as Spec;
  const issues = parsed.error.issues;
  const first = issues.find((issue) => !isMeaningless(issue)) ?? issues[0]!;
  const param = formatPath(first.path);
  throw new GatewayError(isMeaningless(first) ? 'unprocessable' : 'invalid_request', {
    message: param === '' ? first.message : `${param}: ${first.message}`,
    param,
  });
}

function isMeaningless(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['unprocessable'] === true;
}

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? String(step) : `.${String(step)}`,
    )
    .join('');
}
