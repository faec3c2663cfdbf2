import { GatewayError } from '../core/errors.ts';

export function refuseMethod(allowed: readonly string[]): GatewayError {
  return new GatewayError('method_not_allowed', { headers: { allow: allowed.join(', ') } });
}
