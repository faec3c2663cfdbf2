import { isSecretName } from './secret-name.ts';

/**
 * Variables that programs need to run at all. Nothing else of the gateway's environment is passed
 * on.
 */
const PASSED = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

export interface EnvironmentParts {
  /** The gateway's own. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  readonly declared: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, string>>;
}

/** The whole environment of a declared program; a credential goes before what the operator declared. */
export function toProcessEnvironment({
  inherited,
  declared,
  credentials,
}: EnvironmentParts): Record<string, string> {
  const passed = PASSED.flatMap((name) => {
    const value = inherited[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const secrets = Object.entries(credentials).filter(([name]) => isSecretName(name));
  return { ...Object.fromEntries(passed), ...declared, ...Object.fromEntries(secrets) };
}
