import { GatewayError } from '../../core/errors.ts';

/** `HEAD` is allowed wherever `GET` is. */
export function refuseMethod(allowed: readonly string[]): GatewayError {
  const allow = allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return new GatewayError('method_not_allowed', { headers: { allow: allow.join(', ') } });
}
