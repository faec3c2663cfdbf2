import { parseJson } from '../../core/json/value.ts';
import { ERRORS } from '../../core/errors.ts';
import { isRecord } from './guards.ts';

export interface ErrorBody {
  code: string;
  message: string;
  param?: string;
}

const MAX_MESSAGE = 2_000;

/**
 * Reads any of the error shapes that the surfaces render (interface: Errors): a flat string, or an object with
 * some of `message`, `type`, `code`, `status`, `param`. A body that is not JSON (a proxy's HTML page) only
 * gives the status, so that no markup reaches a terminal.
 */
export function fromErrorBody(status: number, text: string): ErrorBody {
  const error = member(parseJson(text), 'error');
  if (typeof error === 'string') return { code: codeOf(status, error), message: clip(error) };
  const message = asText(member(error, 'message'));
  if (message === undefined) {
    return { code: `http_${status}`, message: `the server answered with status ${status}` };
  }
  const code =
    asText(member(error, 'code')) ??
    asText(member(error, 'type')) ??
    asText(member(error, 'status'));
  const param = asText(member(error, 'param'));
  return { code: code ?? codeOf(status, message), message: clip(message), ...(param && { param }) };
}

/** A flat body carries only the text, perhaps followed by its cause; the error table has its code. */
function codeOf(status: number, message: string): string {
  const row = Object.entries(ERRORS).find(
    ([, { status: rowStatus, message: rowMessage }]) =>
      rowStatus === status && (message === rowMessage || message.startsWith(`${rowMessage}: `)),
  );
  return row?.[0] ?? `http_${status}`;
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function clip(text: string): string {
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}
