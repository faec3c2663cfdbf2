import { GatewayError } from '../../core/errors.ts';
import { type CheckOptions, checkTree } from './check-tree.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { CONFIG_KINDS, type ConfigKind } from '../objects/kinds.ts';
import { formatPath } from '../source/locate.ts';

export interface EntryContext extends Omit<CheckOptions, 'root' | 'at'> {
  /** Entries as the schema gives them, by collection, of collections without an error. */
  sound: ReadonlyMap<string, readonly Record<string, unknown>[]>;
}

/** An entry as the schema gives it; undefined for one with errors. */
export function entryValue(
  { collection, entry }: ConfigKind,
  index: number,
  options: EntryContext & CheckOptions,
): Record<string, unknown> | undefined {
  const sound = options.sound.get(collection);
  return sound ? sound[index] : checkTree(entry, options).value;
}

/**
 * Judges the fields of each declared object together, as the API does when it is written. Providers
 * have a check of their own, and names that only the operator declares are the server's to know.
 */
export function checkEntries(tree: Record<string, unknown>, context: EntryContext): Diagnostic[] {
  return CONFIG_KINDS.flatMap((kind) => {
    const { collection, definition } = kind;
    const entries = tree[collection];
    const { check } = definition;
    if (kind.kind === 'provider' || !check || !Array.isArray(entries)) return [];
    return entries.flatMap((_entry, index) => {
      const options = { ...context, root: tree, at: [collection, index] };
      const value = entryValue(kind, index, options);
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
