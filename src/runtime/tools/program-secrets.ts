import { isSecretName } from '../process/secret-name.ts';

/** A program as the operator declared it. */
export interface DeclaredProgram {
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Values of `env` that the configuration gives as secrets. */
  readonly secrets?: readonly string[] | undefined;
}

/** What a program was given and must not be shown, whatever it says: by its origin or by its name. */
export function programSecrets({ env = {}, secrets = [] }: DeclaredProgram): string[] {
  const named = Object.entries(env).filter(([name]) => isSecretName(name));
  return [...secrets, ...named.map(([, value]) => value)];
}
