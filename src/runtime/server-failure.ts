import type { NewEvent } from '../sessions/session-event.ts';
import { toErrorEvent } from './model-failure.ts';
import type { ServerFailure } from './server-pool.ts';

/** The turn goes on without the server; it is asked again in the next one. */
export function toServerErrorEvent({ server, error }: ServerFailure): NewEvent {
  const isRefused = error.reason === 'authentication';
  return toErrorEvent(
    {
      type: isRefused ? 'mcp_authentication_failed_error' : 'mcp_connection_failed_error',
      message: error.message,
      mcp_server_name: server,
    },
    'retrying',
  );
}
