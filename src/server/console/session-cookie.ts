import type { IncomingHttpHeaders } from 'node:http';

const NAME = 'gateway_console';
/** Path below which browsers send the cookie. */
const PATH = '/console/api';

/** Secret of the session that a browser sends; undefined without one, and for two that differ. */
export function readCookie({ cookie }: IncomingHttpHeaders): string | undefined {
  const values = new Set<string>();
  for (const part of cookie?.split(';') ?? []) {
    const [name, value] = part.trim().split('=', 2);
    if (name === NAME && value) values.add(value);
  }
  const [only] = values;
  return values.size === 1 ? only : undefined;
}

/** Header that keeps the secret where no script reads it, for so many seconds; 0 removes it. */
export function writeCookie(secret: string, seconds: number, isSecure: boolean): string {
  const words = [
    `${NAME}=${secret}`,
    `Path=${PATH}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
  ];
  return [...words, ...(isSecure ? ['Secure'] : [])].join('; ');
}
