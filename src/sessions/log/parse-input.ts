import type { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';

/**
 * The value as the schema has it, members that it does not name left out.
 *
 * @param path of the value in the body; empty for the body itself
 * @throws GatewayError `invalid_request` with the path of the first fault
 */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown, path = ''): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const param = formatPath(path, issue?.path ?? []);
  const fault = issue?.message ?? 'not as expected';
  throw new GatewayError('invalid_request', {
    message: param === '' ? fault : `${param}: ${fault}`,
    ...(param !== '' && { param }),
  });
}

function formatPath(root: string, steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? String(step) : `${path}.${String(step)}`;
  }, root);
}
