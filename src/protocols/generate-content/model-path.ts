import { GatewayError } from '../../core/errors.ts';

const PREFIX = /^\/v1(?:beta)?\/(?:models\/)?/;

/**
 * Decodes the segments after `/v1beta/models/`, `/v1/models/` or `/v1beta/`, slashes and colons included,
 * without a slash at the end.
 */
export function decodeModelPath(path: string): string {
  try {
    return decodeURIComponent(path.replace(PREFIX, '').replace(/\/$/, ''));
  } catch {
    throw new GatewayError('not_found', { message: 'the path is not valid' });
  }
}

/** A model and a method of it, divided by the last colon: names may hold colons themselves. */
export function splitMethod(name: string): { model: string; method: string } {
  const colon = name.lastIndexOf(':');
  return colon < 0
    ? { model: name, method: '' }
    : { model: name.slice(0, colon), method: name.slice(colon + 1) };
}
