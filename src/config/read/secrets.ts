import type { DesiredState } from '../objects/desired.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { formatPath, type Path } from '../source/locate.ts';
import { isRecord } from '../objects/record.ts';
import { type ReferenceSources, resolveSecret, SecretRef } from '../objects/references.ts';
import { SecretCommandError } from '../objects/secret-commands.ts';

export interface ResolvedSecrets {
  readonly secrets: Map<SecretRef, string>;
  readonly diagnostics: Diagnostic[];
  /** Messages of commands that gave no value, each once. */
  readonly ofCommands: readonly string[];
}

/**
 * Resolves every secret of the desired state, before anything is written. All missing ones are
 * listed at once (requirement cli.apply.secret-preflight).
 */
export async function resolveAllSecrets(
  desired: Pick<DesiredState, 'objects'>,
  sources: ReferenceSources,
): Promise<ResolvedSecrets> {
  const secrets = new Map<SecretRef, string>();
  const ofCommands = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  for (const { kind, name, body, place } of desired.objects) {
    for (const { path, ref } of secretRefs(body)) {
      try {
        secrets.set(ref, await resolveSecret(ref, sources));
      } catch (error) {
        const message = `${ref.toString()}: ${error instanceof Error ? error.message : 'unknown'}`;
        if (error instanceof SecretCommandError) ofCommands.add(message);
        diagnostics.push({
          ...place,
          path: `${kind} ${name}: ${formatPath(path)}`,
          severity: 'error',
          message,
        });
      }
    }
  }
  return { secrets, diagnostics, ofCommands: [...ofCommands] };
}

/** Every secret reference below a value, with its path. */
export function secretRefs(value: unknown): { path: Path; ref: SecretRef }[] {
  const found: { path: Path; ref: SecretRef }[] = [];
  const path: PropertyKey[] = [];
  const visit = (step: PropertyKey, member: unknown): void => {
    if (typeof member !== 'object' || member === null) return;
    path.push(step);
    walk(member);
    path.pop();
  };
  const walk = (node: object): void => {
    if (node instanceof SecretRef) found.push({ path: [...path], ref: node });
    else if (Array.isArray(node)) for (const [at, member] of node.entries()) visit(at, member);
    else if (isRecord(node)) for (const name of Object.keys(node)) visit(name, node[name]);
  };
  if (typeof value === 'object' && value !== null) walk(value);
  return found;
}
