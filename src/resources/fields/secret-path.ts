import { isJsonObject } from '../../core/json/value.ts';

/** Members by name, as a body, a declaration or a spec has them. */
type Members = Readonly<Record<string, unknown>>;

/** Member that a body begins a path with: `tls` of `tls.key`. */
export function fieldOf(path: string): string {
  return path.split('.')[0]!;
}

/** Member of views that shows whether a write-only field has a value: `tls_key_configured` of `tls.key`. */
export function signalOf(path: string): string {
  return `${path.replaceAll('.', '_')}_configured`;
}

/** True when a path leads to a write-only field, or into the object around its value. */
export function isSecretPath(secrets: readonly string[], path: readonly unknown[]): boolean {
  return path.some((_step, index) => secrets.includes(path.slice(0, index + 1).join('.')));
}

/** Value of a write-only field; null where the object around it is null. */
export function secretAt(body: Members, path: string): unknown {
  let value: unknown = body;
  for (const step of path.split('.')) {
    if (value === null) return null;
    value = isJsonObject(value) ? value[step] : undefined;
  }
  return value;
}

/** The members without those that the paths lead to; their containers are copied, never changed. */
export function withoutSecrets(body: Members, paths: readonly string[]): Record<string, unknown> {
  const rest: Record<string, unknown> = { ...body };
  for (const path of paths) {
    const [field = '', ...below] = path.split('.');
    if (below.length === 0) delete rest[field];
    else if (isJsonObject(rest[field]))
      rest[field] = withoutSecrets(rest[field], [below.join('.')]);
  }
  return rest;
}

/** The members with a value at a path, in a copy of the object that contains it. */
export function withSecret(body: Members, path: string, value: unknown): Record<string, unknown> {
  const [field = '', ...below] = path.split('.');
  if (below.length === 0) return { ...body, [field]: value };
  const around = isJsonObject(body[field]) ? body[field] : {};
  return { ...body, [field]: withSecret(around, below.join('.'), value) };
}
