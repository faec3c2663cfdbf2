import type { DesiredState } from './desired.ts';
import type { Diagnostic } from './diagnostic.ts';
import { formatPath, type Path } from './locate.ts';
import { isRecord } from './record.ts';
import { type ReferenceSources, resolveSecret, SecretRef } from './references.ts';

/**
 * Resolves every secret of the desired state, before anything is written. All missing ones are
 * listed at once (requirement cli.apply.secret-preflight).
 */
export async function resolveAllSecrets(
  desired: DesiredState,
  sources: ReferenceSources,
): Promise<{ secrets: Map<SecretRef, string>; diagnostics: Diagnostic[] }> {
  const secrets = new Map<SecretRef, string>();
  const diagnostics: Diagnostic[] = [];
  for (const { kind, name, body, place } of desired.objects) {
    for (const { path, ref } of secretRefs(body)) {
      try {
        secrets.set(ref, await resolveSecret(ref, sources));
      } catch (error) {
        const message = `${ref.toString()}: ${error instanceof Error ? error.message : 'unknown'}`;
        diagnostics.push({
          ...place,
          path: `${kind} ${name}: ${formatPath(path)}`,
          severity: 'error',
          message,
        });
      }
    }
  }
  return { secrets, diagnostics };
}

/** Every secret reference below a value, with its path. */
export function secretRefs(value: unknown, path: Path = []): { path: Path; ref: SecretRef }[] {
  if (value instanceof SecretRef) return [{ path, ref: value }];
  if (Array.isArray(value)) {
    return value.flatMap((member, index) => secretRefs(member, [...path, index]));
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => secretRefs(member, [...path, name]));
}
