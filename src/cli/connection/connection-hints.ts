import { isCertificateFault } from '../../client/http/connection-error.ts';

/** Next step by the code of the system for a server that could not be reached; the first row that fits counts. */
const HINTS: readonly (readonly [code: RegExp, hint: string])[] = [
  [
    /^ECONNREFUSED$/,
    'nothing listens there: `gateway status` shows what runs here, `gateway start` starts one, --server names another',
  ],
  [/^ENOTFOUND$/, 'no machine has this name: check --server, GATEWAY_SERVER or the context'],
  [/^EAI_AGAIN$/, 'the name could not be looked up: check the network and its name server'],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    'no answer from that machine: check the network, a firewall or VPN, and the port',
  ],
  [
    /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED$|INVALID_CA$)/,
    'the authority of its certificate is not known here: run the command with NODE_EXTRA_CA_CERTS=FILE, the PEM file of the private CA, or of the certificate itself where it signs itself',
  ],
  [
    /^(?:CERT_HAS_EXPIRED|CRL_HAS_EXPIRED)$/,
    'its certificate has expired: renew the files of server.listen.tls, or those of the proxy in front, and check the clock of this machine',
  ],
  [
    /^(?:CERT_NOT_YET_VALID|CRL_NOT_YET_VALID)$/,
    'its certificate is not valid yet: check the clock of this machine',
  ],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    'its certificate is for other names: give --server a name that is in it, or have the certificate name this one, too (subjectAltName)',
  ],
  [
    /^ERR_SSL_.*(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)$/,
    'it wants a certificate of its clients, which commands do not have: name an address that asks for none with --server',
  ],
  [
    /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/,
    'it does not speak HTTPS at this port: write http:// in its address, or check the port',
  ],
  [/^bad port$/, 'no client calls this port: check the address'],
];

/** What to do about a server that could not be reached; undefined for a code without advice. */
export function connectionHint(code: string): string | undefined {
  const found = HINTS.find(([pattern]) => pattern.test(code))?.[1];
  if (found !== undefined || !isCertificateFault(code)) return found;
  return 'its certificate cannot be used: `openssl s_client -connect HOST:PORT` shows it, and which part is wrong';
}
