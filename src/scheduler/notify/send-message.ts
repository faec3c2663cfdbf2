import { providerOf } from '../../resources/kinds/chat-webhooks.ts';
import type { OwnWebhook } from '../../resources/kinds/chat-webhooks.ts';
import type { ProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import { guardedFetch, UrlFetchError } from '../../upstream/guard/guarded-fetch.ts';
import { UrlGuardError } from '../../upstream/guard/url-guard-error.ts';
import { createUrlGuard } from '../../upstream/guard/url-guard.ts';
import type { UrlGuard } from '../../upstream/guard/url-guard.ts';

/** Providers answer with a line or one message. */
const MAX_ANSWER_BYTES = 64 * 1024;
const TIMEOUT_MS = 10_000;

export interface ChatMessage {
  readonly webhook: string;
  readonly text: string;
  readonly signal?: AbortSignal | undefined;
}

export type Delivery =
  | { readonly isDelivered: true }
  | {
      readonly isDelivered: false;
      /** Sentence for logs and callers: names neither the webhook nor its answer. */
      readonly reason: string;
      /** True when the same message will never be taken there. */
      readonly isFinal: boolean;
    };

export interface MessageSender {
  /** Sends once: no redirects, 10 seconds for everything. Rejects only when `signal` is aborted. */
  send(message: ChatMessage): Promise<Delivery>;
  close(): Promise<void>;
}

export interface MessageSenderOptions {
  /** Bots of the operator's own, wherever they are. */
  readonly own: readonly OwnWebhook[];
  /** Addresses of the operator's network that may be called, too; see `createUrlGuard`. */
  readonly allow: readonly string[];
  /** Default none. */
  readonly proxies?: ProxyRules | undefined;
}

/** Sends messages to chat webhooks, through the guard for URLs that users supply. */
export function createMessageSender({ own, allow, proxies }: MessageSenderOptions): MessageSender {
  const bots = own.map(({ url }) => hostAndPort(url));
  const guard = createUrlGuard({ allow: [...allow, ...bots], proxies });
  return { send: (message) => send(guard, own, message), close: () => guard.close() };
}

async function send(
  guard: UrlGuard,
  own: readonly OwnWebhook[],
  { webhook, text, signal }: ChatMessage,
): Promise<Delivery> {
  const url = new URL(webhook);
  // A second look: the operator may have taken back a bot that was accepted when it was saved.
  const provider = providerOf(url, own);
  if (!provider) return undelivered('the webhook is of no known provider any more', true);
  const request = provider.toRequest(url, text);
  try {
    const { status, body } = await guardedFetch(guard, request.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'agent-gateway' },
      body: request.body,
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs: TIMEOUT_MS,
      maxRedirects: 0,
      ...(signal && { signal }),
    });
    if (provider.isDelivered({ status, body: body.toString('utf8') })) return { isDelivered: true };
    return undelivered(`${provider.name} refused the message with ${status}`, isForGood(status));
  } catch (error) {
    if (signal?.aborted) throw error;
    return undelivered(`${provider.name} ${reasonOf(error)}`, isForbidden(error));
  }
}

function undelivered(reason: string, isFinal: boolean): Delivery {
  return { isDelivered: false, reason, isFinal };
}

/** Rate limits are reported by 429, by some providers also with 200: those are worth another try. */
function isForGood(status: number): boolean {
  return status >= 300 && status < 500 && ![408, 425, 429].includes(status);
}

/** A name that does not resolve may do so in a moment. */
function isForbidden(error: unknown): boolean {
  return error instanceof UrlGuardError && error.reason !== 'unresolved';
}

function reasonOf(error: unknown): string {
  if (error instanceof UrlGuardError) return `may not be called (${error.reason})`;
  if (error instanceof UrlFetchError) return `could not be reached (${error.reason})`;
  throw error;
}

function hostAndPort(text: string): string {
  const { hostname, port, protocol } = new URL(text);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
