import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import { createHostGuard } from './host-guard.ts';
import type { HostGuardOptions } from './host-guard.ts';

export interface RequestGuardOptions extends HostGuardOptions {
  /** Longest request target (config: server.limits.url_bytes). */
  urlBytes: number;
}

/**
 * Checks the head of a request before its handler runs.
 *
 * @throws GatewayError `url_too_long`, `host_not_allowed`
 */
export function createRequestGuard(
  options: RequestGuardOptions,
): (request: IncomingMessage, isProbe?: boolean) => void {
  const { urlBytes } = options;
  const checkHost = createHostGuard(options);
  return (request, isProbe) => {
    // Node.js gives the target byte for byte as Latin-1.
    if ((request.url ?? '').length > urlBytes) throw new GatewayError('url_too_long');
    checkHost(request, isProbe);
  };
}
