import { createFetch } from 'ofetch';
import type { Reply, Sending } from './transport.ts';

/** Sends one call with `fetch`, the only one that writes forms. Follows no redirect. */
export async function sendWithFetch(
  url: string,
  { method, headers, body, form, signal }: Sending,
  fetch: typeof globalThis.fetch,
): Promise<Reply> {
  return createFetch({ fetch }).raw(url, {
    method,
    headers,
    body: form ?? body,
    signal,
    retry: false,
    redirect: 'manual',
    ignoreResponseError: true,
    // The body is left unread, so that each caller reads it in its own way.
    responseType: 'stream',
  });
}
