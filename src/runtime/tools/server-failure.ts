import type { NewEvent } from '../../sessions/log/session-event.ts';
import { toErrorEvent } from './model-failure.ts';
import type { ServerFailure } from './server-pool.ts';
import type { ToolServerError } from './tool-server.ts';

const TYPES: Readonly<Record<ToolServerError['reason'], string>> = {
  authentication: 'mcp_authentication_failed_error',
  connection: 'mcp_connection_failed_error',
  rate: 'mcp_connection_failed_error',
  stale: 'mcp_connection_failed_error',
  tools: 'unknown_error',
};

/** The turn continues without the server, or the tool; it is asked again in the next one. */
export function toServerErrorEvent({ server, error }: ServerFailure): NewEvent {
  const { reason, message } = error;
  return toErrorEvent({ type: TYPES[reason], message, mcp_server_name: server }, 'retrying');
}
