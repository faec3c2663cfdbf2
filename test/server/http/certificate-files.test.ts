import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CertificateError, readCertificate } from '../../../src/server/http/certificate-files.ts';
import { createAuthority } from '../../support/certificates.ts';
import type { Issued } from '../../support/certificates.ts';

let folder: string;
let ca: string;
let own: Issued;
let other: Issued;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'certificate-files-'));
  const authority = createAuthority('Root');
  ca = authority.ca;
  own = authority.issue('gateway.test');
  other = authority.issue('other.test');
  authority.dispose();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Paths of files with these texts; undefined for one that is not there. */
function filesOf(name: string, texts: { cert?: string; key?: string }) {
  const at = (part: 'cert' | 'key'): string => {
    const path = join(folder, `${name}.${part}`);
    const text = texts[part];
    if (text !== undefined) writeFileSync(path, text);
    return path;
  };
  return { cert: at('cert'), key: at('key') };
}

async function faultOf(files: { cert: string; key: string }) {
  const fault: unknown = await readCertificate(files).catch((thrown: unknown) => thrown);
  if (!(fault instanceof CertificateError)) throw new Error(`not refused: ${String(fault)}`);
  return fault;
}

describe('a certificate', () => {
  it('is read with its key as they are written', async () => {
    expect(await readCertificate(filesOf('own', own))).toEqual(own);
  });

  it('is the first of its file, in front of its chain', async () => {
    const chain = { cert: own.cert + ca, key: own.key };
    expect(await readCertificate(filesOf('chain', chain))).toEqual(chain);
    const files = filesOf('reverse', { cert: ca + own.cert, key: own.key });
    expect((await faultOf(files)).part).toBe('key');
  });

  it('is refused with the key of another one', async () => {
    const files = filesOf('pair', { cert: own.cert, key: other.key });
    const fault = await faultOf(files);
    expect(fault).toMatchObject({ name: 'CertificateError', part: 'key' });
    expect(fault.cause).toBeUndefined();
    expect(fault.message).toBe(
      `${files.key} is not the key of the first certificate in ${files.cert}; give both files of one pair`,
    );
  });

  it.each(['cert', 'key'] as const)('is refused without its file: %s', async (part) => {
    const files = filesOf(`no-${part}`, { ...own, [part]: undefined });
    const fault = await faultOf(files);
    expect(fault).toMatchObject({ part, cause: { code: 'ENOENT' } });
    expect(fault.message).toBe(
      `cannot read ${files[part]}: it does not exist; check the path and who may read it`,
    );
  });

  it.each(['cert', 'key'] as const)('is refused where its file is a folder: %s', async (part) => {
    const files = { ...filesOf(`folder-${part}`, own), [part]: folder };
    const fault = await faultOf(files);
    expect(fault).toMatchObject({ part, cause: { code: 'EISDIR' } });
    expect(fault.message).toMatch(/^cannot read .*: EISDIR.*; check the path and who may read it$/);
  });

  it.each([
    ['cert', 'certificate in PEM (-----BEGIN CERTIFICATE-----)'],
    ['key', 'private key in PEM without a passphrase'],
  ] as const)('is refused where a file holds something else: %s', async (part, kind) => {
    for (const text of ['', 'text', part === 'cert' ? own.key : own.cert]) {
      const files = filesOf(`else-${part}`, { ...own, [part]: text });
      const fault = await faultOf(files);
      expect(fault.part).toBe(part);
      expect(fault.message).toBe(`${files[part]} holds no ${kind}; give such a file`);
      expect(fault.cause).toBeDefined();
    }
  });

  it('is refused with a key that has a passphrase', async () => {
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: {
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'secret',
      },
    });
    const fault = await faultOf(filesOf('locked', { ...own, key: privateKey }));
    expect(fault.message).toContain('holds no private key in PEM without a passphrase');
  });
});
