import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { ReferenceSources, SecretRef } from '../../config/objects/references.ts';
import { resolveSecret } from '../../config/objects/references.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { createProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import { isConsoleServed } from '../console/is-console-served.ts';
import { resolveOutside } from '../compose/resolve-programs.ts';
import { CertificateError, readCertificate } from '../http/certificate-files.ts';
import { assertCanListen } from '../http/listen.ts';

/**
 * Looks for faults that would end a start, before anything is made: unreadable secrets of the
 * server, an unusable data directory, addresses that cannot be had.
 *
 * @throws Error with a sentence that says what to do
 */
export async function preflight(server: ServerConfig, sources: ReferenceSources): Promise<void> {
  createProxyRules(sources.env);
  const { masterKey, previousKeys } = server.secrets;
  for (const key of [...(masterKey ? [masterKey] : []), ...previousKeys])
    await resolveSecret(key, sources);
  const resolve = (reference: SecretRef): Promise<string> => resolveSecret(reference, sources);
  await resolveOutside(server, resolve);
  await assertUsable(server.dataDir, 'server.data_dir');
  await assertCanListen(server.listen);
  if (server.metrics.listen) await assertCanListen(server.metrics.listen);
  if (server.console.listen && isConsoleServed(server))
    await assertCanListen(server.console.listen);
}

/** Problem of the certificate that the server is to listen with, at the file's name; none without one. */
export async function checkCertificate({
  server,
  certificatePlaces,
}: Pick<GatewayConfig, 'server' | 'certificatePlaces'>): Promise<Diagnostic[]> {
  const { tls } = server.listen;
  if (!tls) return [];
  try {
    await readCertificate(tls);
    return [];
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    const { part, message } = error;
    const path = `server.listen.tls.${part}`;
    return [{ ...certificatePlaces[part], path, severity: 'error', message }];
  }
}

/** Names of folders by the setting. */
const FOLDERS = {
  'server.data_dir': 'the data directory',
  'server.store.path': 'the store',
} as const;

/** The nearest folder that exists must be one in which others can be made. */
export async function assertUsable(path: string, setting: keyof typeof FOLDERS): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found && dirname(path) !== path) return assertUsable(dirname(path), setting);
  const isFolder = found?.isDirectory() === true;
  const reason = isFolder ? 'it cannot be written' : 'a file of that name is in the way';
  const isWritable = await access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isFolder && isWritable) return;
  throw new Error(
    `cannot use ${path} as ${FOLDERS[setting]}: ${reason}; name another with ${setting}`,
  );
}
