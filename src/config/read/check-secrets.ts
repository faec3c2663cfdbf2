import { PROVIDERS } from '../../providers/registry.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { CONFIG_KINDS } from '../objects/kinds.ts';
import { formatPath, type Path, type Places, valueAt } from '../source/locate.ts';
import { isRecord } from '../objects/record.ts';
import { SecretRef } from '../objects/references.ts';
import { secretRefs } from './secrets.ts';

const SERVER_SECRETS: readonly Path[] = [
  ['server', 'secrets', 'master_key'],
  ['server', 'secrets', 'previous_keys'],
  ['server', 'sso', 'client_secret'],
];

/**
 * Secrets are only named in a file: a literal in a write-only field is refused, and so is a text
 * from `${env:}` or `${file:}`, which would be treated as any other text. A secret in any other
 * field is refused too, because it would be shown there. No message carries a value.
 */
export function checkSecrets(tree: Record<string, unknown>, places: Places): Diagnostic[] {
  const paths = secretPaths(tree);
  const literals = paths
    .filter((path) => isLiteral(valueAt(tree, path)))
    .map((path) => ({
      path,
      message: 'a secret must not be written in the file',
      hint: `write \${secret:env:${variableFor(path, tree)}} or \${secret:file:PATH}`,
    }));
  const allowed = new Set([...paths, ...programPaths(tree)].map(formatPath));
  const misplaced = secretRefs(tree)
    .filter(({ path }) => !allowed.has(formatPath(path)))
    .map(({ path, ref }) => ({
      path,
      message: `${ref.toString()} would be shown here`,
      hint: 'secrets are allowed in api_key, tls.key, value, server.secrets and env; for other texts use ${env:NAME}',
    }));
  return [...literals, ...misplaced].map(({ path, message, hint }) => ({
    ...places.find(tree, path),
    path: formatPath(path),
    severity: 'error',
    message,
    hint,
  }));
}

function secretPaths(tree: Record<string, unknown>): Path[] {
  const paths = SERVER_SECRETS.flatMap((path) => {
    const value = valueAt(tree, path);
    return Array.isArray(value) ? value.map((_, index) => [...path, index]) : [path];
  });
  const mails = valueAt(tree, ['server', 'alerts', 'mails']);
  for (const name of Object.keys(isRecord(mails) ? mails : {}))
    paths.push(['server', 'alerts', 'mails', name, 'smtp', 'password']);
  for (const { collection, secrets } of CONFIG_KINDS) {
    const entries = tree[collection];
    if (!Array.isArray(entries)) continue;
    for (const [index, entry] of entries.entries()) {
      if (!isRecord(entry)) continue;
      for (const field of secrets) {
        // Around a secret there may be an object, whose only member it is.
        const steps = field.split('.');
        const value = valueAt(entry, steps);
        const members = isRecord(value) ? Object.keys(value) : [];
        const at = [collection, index, ...steps];
        paths.push(...(isRecord(value) ? members.map((member) => [...at, member]) : [at]));
      }
    }
  }
  return paths;
}

/** Variables of the operator's programs: any of them may be a secret, none has to be. */
function programPaths(tree: Record<string, unknown>): Path[] {
  return ['harnesses', 'mcp_servers'].flatMap((section) => {
    const programs = valueAt(tree, ['server', section]);
    return Object.entries(isRecord(programs) ? programs : {}).flatMap(([name, program]) => {
      const env = isRecord(program) ? program['env'] : undefined;
      return Object.keys(isRecord(env) ? env : {}).map((variable): Path => [
        'server',
        section,
        name,
        'env',
        variable,
      ]);
    });
  });
}

function isLiteral(value: unknown): boolean {
  return value !== undefined && value !== null && !(value instanceof SecretRef);
}

/** A likely name, so that the hint can be copied. */
function variableFor(path: Path, tree: unknown): string {
  if (path.at(-1) === 'master_key') return 'GATEWAY_MASTER_KEY';
  const type = valueAt(tree, [...path.slice(0, -1), 'type']);
  return PROVIDERS.get(String(type))?.envKeys?.[0] ?? 'NAME';
}
