import { GatewayError } from '../core/errors.ts';
import type { RunError, RunErrorType } from './run-row.ts';

/** Errors that every later run of the Schedule would meet as well. */
const PERMANENT: ReadonlySet<RunErrorType> = new Set<RunErrorType>([
  'agent_archived_error',
  'file_not_found_error',
  'organization_disabled_error',
  'session_creation_rejected_error',
  'session_resource_not_found_error',
  'skill_not_found_error',
]);

/** True when the Schedule is paused by it (requirement deployments.trigger.auto-pause). */
export function isPermanent({ type }: RunError): boolean {
  return PERMANENT.has(type);
}

/** Cause that left the run without a Session; undefined for passing causes, and for bugs. */
export function toRunError(thrown: unknown): RunError | undefined {
  if (!(thrown instanceof GatewayError)) return undefined;
  const type = typeOf(thrown);
  return type && { type, message: thrown.message };
}

function typeOf({ code, type, status, param = '' }: GatewayError): RunErrorType | undefined {
  if (type === 'agent_archived') return 'agent_archived_error';
  if (code === 'organization_disabled') return 'organization_disabled_error';
  // There is no key here: the organization itself is gone.
  if (code === 'invalid_api_key') return 'organization_disabled_error';
  if (type === 'skill_archived') return 'skill_not_found_error';
  if (code === 'not_found') return missing(param);
  if (status === 402 || status === 429) return 'session_rate_limited_error';
  return status < 500 ? 'session_creation_rejected_error' : undefined;
}

function missing(param: string): RunErrorType {
  if (param.endsWith('.file_id')) return 'file_not_found_error';
  return param.includes('skills') ? 'skill_not_found_error' : 'session_resource_not_found_error';
}
