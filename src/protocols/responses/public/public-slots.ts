import { isJsonObject } from '../../../core/json/value.ts';
import { toPublicMessage } from '../../../core/redact.ts';
import { toLatin1 } from '../to-latin1.ts';
import type { Slots } from './keep-public.ts';

/**
 * Returns the values that replace the provider's own in a public Response: the logical
 * model, and the words of its `error` without those that must not be shown. Texts in latin1, as
 * `keepPublic` takes them.
 */
export function publicSlots(model: string, error: unknown): Slots {
  const message = isJsonObject(error) ? error['message'] : undefined;
  return {
    model: toLatin1(JSON.stringify(model)),
    ...(typeof message === 'string' && {
      'error.message': toLatin1(JSON.stringify(toPublicMessage(message))),
    }),
  };
}
