import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly ca: string;
  /** Issues a certificate for names and addresses. */
  issue(name: string, ...others: string[]): Issued;
}

/** Makes an authority of its own; `dispose` removes its files. */
export function createAuthority(name: string): Authority & { dispose(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const at = (file: string): string => join(folder, file);
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  };
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const root = ['-x509', '-days', '2', '-subj', `/CN=${name}`, '-keyout', 'ca.key'];
  openssl('req', ...fresh, ...root, '-out', 'ca.crt');
  return {
    ca: readFileSync(at('ca.crt'), 'utf8'),
    issue(subject, ...others) {
      const names = [subject, ...others].map((one) => `${isIP(one) === 0 ? 'DNS' : 'IP'}:${one}`);
      writeFileSync(at('names'), `subjectAltName=${names.join(',')}\n`);
      openssl('req', ...fresh, '-subj', `/CN=${subject}`, '-keyout', 'one.key', '-out', 'one.csr');
      const signer = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
      openssl('x509', '-req', '-in', 'one.csr', ...signer, '-extfile', 'names', '-out', 'one.crt');
      return {
        cert: readFileSync(at('one.crt'), 'utf8'),
        key: readFileSync(at('one.key'), 'utf8'),
      };
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}
