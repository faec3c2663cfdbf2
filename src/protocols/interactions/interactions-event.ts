import { isJsonObject } from '../../core/json/value.ts';
import { membersOf } from '../json-fields.ts';
import type { StreamFailure } from '../protocol.ts';

type Members = Readonly<Record<string, unknown>>;

/** Events that report the state of the stream, without content; older clients know other names. */
const LIFECYCLE: ReadonlySet<string> = new Set([
  'interaction.created',
  'interaction.start',
  'interaction.status_update',
  'step.stop',
  'content.stop',
]);

/** Members that open a part of the answer; it commits when it holds more than its kind. */
const OPENING: Readonly<Record<string, string>> = {
  'step.start': 'step',
  'content.start': 'content',
};

/** Says that nothing follows. */
export function isCompletion(type: string | undefined): boolean {
  return type === 'interaction.completed' || type === 'interaction.complete';
}

/** True when the event commits; kinds that are not known yet do, too. */
export function commits(type: string | undefined, value: Members): boolean {
  if (type === undefined || LIFECYCLE.has(type)) return false;
  const part = openingOf(type, value);
  return (
    part === undefined ||
    Object.entries(part).some(([name, one]) => name !== 'type' && isFilled(one))
  );
}

/** True when a thought begins, whose text some models never show. */
export function opensThought(type: string | undefined, value: Members): boolean {
  return type !== undefined && openingOf(type, value)?.['type'] === 'thought';
}

/** What begins with the event; undefined for an event of another kind. */
function openingOf(type: string, value: Members): Members | undefined {
  const member = OPENING[type];
  return member === undefined ? undefined : membersOf(value[member]);
}

/**
 * Reads the failure in an `error` event: its code is a number, the name of a status, or an address.
 */
export function toStreamFailure(error: unknown): StreamFailure {
  const { code, message } = isJsonObject(error) ? error : { code: undefined, message: error };
  const status = statusOf(code);
  return {
    kind: 'error',
    message: typeof message === 'string' ? message : '',
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(status === undefined ? {} : { status }),
  };
}

const STATUSES: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

function statusOf(code: unknown): number | undefined {
  const known = typeof code === 'string' ? STATUSES[code.toUpperCase()] : undefined;
  const status = known ?? (typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code);
  const isError = typeof status === 'number' && Number.isInteger(status);
  return isError && status >= 400 && status <= 599 ? status : undefined;
}

function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}
