import { GatewayError } from '../../core/errors.ts';
import type { AskedChange } from '../store/define-resource.ts';
import type { Spec } from '../store/stored.ts';

/** Fields that decide where a key is sent, with what of them does. */
type KeyRoute = Readonly<Record<string, string | null>>;

/**
 * Judges updates that leave `api_key` as it is: who can set a key but read none must not have it sent elsewhere
 * either. Those who govern keys are free to.
 */
export function keepKey(routeOf: (spec: Spec) => KeyRoute): (change: AskedChange) => Promise<void> {
  return async ({ before, next, body, rights }) => {
    const isKept = before.sealed['api_key'] !== undefined && body['api_key'] === undefined;
    if (!isKept || rights.may('govern')) return;
    const [was, is] = [routeOf(before.spec), routeOf(next.spec)];
    const moved = Object.keys(is).find((field) => is[field] !== was[field]);
    if (moved === undefined) return;
    const message = `api_key: is needed beside a new ${moved}, which changes where the key is sent; send both in one request, or let a role that makes keys change ${moved}`;
    throw new GatewayError('invalid_request', { message, param: 'api_key' });
  };
}

/** Scheme, host and port of an address, whose path may change; null where it has none. */
export function addressOf(url: unknown): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
