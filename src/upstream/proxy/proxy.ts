import { Buffer } from 'node:buffer';

/** Proxy that is asked for tunnels (CONNECT). */
export interface Proxy {
  /** Address without credentials, for people: `http://proxy.example:3128`. */
  readonly name: string;
  readonly hostname: string;
  readonly port: number;
  /** TLS to the proxy itself. */
  readonly secure: boolean;
  /** Value of `proxy-authorization`; never logged, never in an error. */
  readonly authorization: string | undefined;
}

/**
 * Reads the address of a proxy: `http://`, `https://`, or a bare `host:port`; the port is 80, 443 or 1080
 * for a bare name, as curl has it. Throws `TypeError` whose message quotes nothing of it.
 */
export function parseProxy(text: string): Proxy {
  const isBare = !/^[a-z][a-z\d+.-]*:\/\//i.test(text);
  const whole = isBare ? `http://${text}` : text;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw new TypeError('expected http://host:port or https://host:port');
  const secure = url.protocol === 'https:';
  const usual = secure ? 443 : isBare && !/:80\b/.test(text) ? 1080 : 80;
  const port = url.port === '' ? usual : Number(url.port);
  return {
    name: `${url.protocol}//${url.hostname}:${port}`,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    secure,
    authorization: authorizationOf(url),
  };
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${decode(username)}:${decode(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
