import { isSecretName } from '../process/secret-name.ts';

/** A program as the operator declared it. */
export interface DeclaredProgram {
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Values of `env` that the configuration gives as secrets. */
  readonly secrets?: readonly string[] | undefined;
}

/**
 * Secrets that a program was given and must not be shown, found by their origin or by their name.
 */
export function programSecrets({ env = {}, secrets = [] }: DeclaredProgram): string[] {
  const named = Object.entries(env).filter(([name]) => isSecretName(name));
  return [...secrets, ...named.map(([, value]) => value)];
}
