import { once } from 'node:events';
import { createServer as createPlain } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectionHint } from '../../../src/cli/connection/connection-hints.ts';
import { verifies } from '../../requirements.ts';
import { createAuthority } from '../../support/certificates.ts';
import { runCli } from '../run-cli.ts';

describe('the hint for a server that cannot be reached', () => {
  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /NODE_EXTRA_CA_CERTS/],
    ['CERT_UNTRUSTED', /NODE_EXTRA_CA_CERTS/],
    ['CERT_HAS_EXPIRED', /expired: renew/],
    ['CERT_NOT_YET_VALID', /clock/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /other names/],
    ['CERT_REVOKED', /openssl s_client/],
    ['INVALID_PURPOSE', /openssl s_client/],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /certificate of its clients/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /write http:/],
    ['ECONNREFUSED', /gateway status.*gateway start/],
    ['ENOTFOUND', /no machine has this name/],
    ['EAI_AGAIN', /name server/],
    ['ETIMEDOUT', /firewall/],
  ])('of %s is its cure', (code, hint) => {
    expect(connectionHint(code)).toMatch(hint);
  });

  it('is none for a code without advice', () => {
    expect(connectionHint('EMFILE')).toBeUndefined();
  });
});

async function whoami(server: Server, url: (port: number) => string) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const at = url((server.address() as AddressInfo).port);
  return runCli(['whoami', '--server', at], { env: { GATEWAY_API_KEY: 'sk-1' } });
}

it(verifies('cli.unreachable-hint', 'names the cure for what the system says'), async () => {
  const authority = createAuthority('Own');
  onTestFinished(() => authority.dispose());
  const { cert, key } = authority.issue('gateway.test');
  const own = await whoami(createServer({ cert, key }), (port) => `https://127.0.0.1:${port}`);
  expect(own.stderr).toMatch(/cannot reach https:.*\((?:UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/);
  expect(own.stderr).toContain('NODE_EXTRA_CA_CERTS=FILE');
  const plain = await whoami(createPlain(), (port) => `https://127.0.0.1:${port}`);
  expect(plain.stderr).toMatch(/cannot reach https:/);
  expect(plain.stderr).toContain('write http://');
  const secure = await whoami(createServer({ cert, key }), (port) => `http://127.0.0.1:${port}`);
  expect(secure.stderr).toContain('write https://');
});
