import { GatewayError } from '../core/errors.ts';
import { type CheckOptions, checkTree } from './check-tree.ts';
import type { Diagnostic } from './diagnostic.ts';
import { CONFIG_KINDS } from './kinds.ts';
import { formatPath } from './locate.ts';

/**
 * Judges the fields of each declared object together, as the API does when it is written. Providers
 * have a check of their own, and names that only the operator declares are the server's to know.
 */
export function checkEntries(
  tree: Record<string, unknown>,
  context: Omit<CheckOptions, 'root' | 'at'>,
): Diagnostic[] {
  return CONFIG_KINDS.flatMap(({ kind, collection, entry, definition }) => {
    const entries = tree[collection];
    const { check } = definition;
    if (kind === 'provider' || !check || !Array.isArray(entries)) return [];
    return entries.flatMap((_entry, index) => {
      const options = { ...context, root: tree, at: [collection, index] };
      const { value } = checkTree(entry, options);
      if (value === undefined) return [];
      const fault = faultOf(() => check(value as Parameters<typeof check>[0], {}));
      return fault ? [toDiagnostic(fault, options)] : [];
    });
  });
}

function faultOf(check: () => void): GatewayError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function toDiagnostic({ param = '', message }: GatewayError, options: CheckOptions): Diagnostic {
  const steps = param.split(/[.[\]]+/).filter((step) => step !== '');
  const path = [...options.at, ...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))];
  return {
    ...options.places.find(options.root, path),
    path: formatPath(path),
    severity: 'error',
    message: message.startsWith(`${param}: `) ? message.slice(param.length + 2) : message,
  };
}
