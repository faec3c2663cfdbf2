import { GatewayError } from '../../core/errors.ts';
import { checkClientCertificate, CLIENT_KEY } from '../../providers/read-tls.ts';
import type { DeclaredTls } from '../../providers/read-tls.ts';
import { secretAt } from '../../resources/fields/secret-path.ts';
import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import { type ReferenceSources, resolveSecret, SecretRef } from '../objects/references.ts';
import type { Diagnostic } from '../source/diagnostic.ts';

export interface ClientKeyOptions {
  sources: ReferenceSources;
  /** RFC 3339. */
  now: string;
}

/**
 * Judges the client certificates of declared providers at `now`, with their private keys where these
 * can be read from here: files are also validated where secrets are absent.
 */
export async function checkClientKeys(
  { objects }: Pick<DesiredState, 'objects'>,
  options: ClientKeyOptions,
): Promise<Diagnostic[]> {
  const providers = objects.filter(({ kind }) => kind === 'provider');
  const found = await Promise.all(providers.map((one) => checkProvider(one, options)));
  return found.flat();
}

async function checkProvider(
  { name, body, place }: DesiredObject,
  { sources, now }: ClientKeyOptions,
): Promise<Diagnostic[]> {
  const key = await tryToRead(secretAt(body, CLIENT_KEY), sources);
  try {
    checkClientCertificate({ ...(body['tls'] as DeclaredTls | undefined), key }, now);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const [message = '', hint] = error.message.split('; ', 2);
    const path = `provider ${name}: ${error.param}`;
    return [{ ...place, path, severity: 'error', message, ...(hint && { hint }) }];
  }
}

async function tryToRead(key: unknown, sources: ReferenceSources): Promise<string | undefined> {
  if (!(key instanceof SecretRef)) return undefined;
  try {
    return await resolveSecret(key, sources);
  } catch {
    return undefined;
  }
}
