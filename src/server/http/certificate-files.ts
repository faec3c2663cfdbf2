import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerConfig } from '../../config/schema/server-config.ts';

/** Absolute paths of files in PEM. */
export type CertificateFiles = NonNullable<ServerConfig['listen']['tls']>;

/** Certificate with its chain, and its private key, as texts in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Fault of a certificate file; the message names it and says what to do. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
  /** File that is at fault. */
  readonly part: keyof CertificateFiles;

  constructor(part: keyof CertificateFiles, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.part = part;
  }
}

/**
 * Reads a certificate and its key, and sees that they belong together.
 *
 * @throws CertificateError
 */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([read(files, 'cert'), read(files, 'key')]);
  const leaf = parse(files, 'cert', () => new X509Certificate(cert));
  const secret = parse(files, 'key', () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(secret)) {
    const message = `${files.key} is not the key of the first certificate in ${files.cert}; give both files of one pair`;
    throw new CertificateError('key', message);
  }
  return { cert, key };
}

async function read(files: CertificateFiles, part: keyof CertificateFiles): Promise<string> {
  try {
    return await readFile(files[part], 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'it does not exist' : (cause as Error).message;
    const message = `cannot read ${files[part]}: ${reason}; check the path and who may read it`;
    throw new CertificateError(part, message, { cause });
  }
}

const KINDS = {
  cert: 'certificate in PEM (-----BEGIN CERTIFICATE-----)',
  key: 'private key in PEM without a passphrase',
} as const;

function parse<T>(files: CertificateFiles, part: keyof CertificateFiles, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const message = `${files[part]} holds no ${KINDS[part]}; give such a file`;
    throw new CertificateError(part, message, { cause });
  }
}
