/**
 * Callers choose the names of credentials, and some variables make a program run code (`LD_PRELOAD`,
 * `NODE_OPTIONS`): only those count whose name says that they are secrets.
 */
const SECRET_NAME = /^[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|CREDENTIALS)$/;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
