import { hasStrings } from './http/guards.ts';
import type { Http } from './http/http.ts';

/** Link that signs one browser in to the console with the key of the client. */
export interface ConsoleLink {
  /** Whole address; the first to open it is signed in. */
  href: string;
  /** RFC 3339. */
  expires_at: string;
}

export interface ConsoleClient {
  /** Needs a key with the scope `admin`. Throws `conflict` where the console is not served. */
  createLink(signal?: AbortSignal): Promise<ConsoleLink>;
}

interface LinkView extends Record<string, unknown> {
  path: string;
  url?: string | null;
  expires_at: string;
}

const isLink = hasStrings<LinkView>('path', 'expires_at');

export function createConsoleClient(http: Http, baseUrl: string): ConsoleClient {
  return {
    async createLink(signal) {
      const call = { method: 'POST', path: '/admin/v1/console/links', body: {}, signal };
      const { path, url, expires_at } = (await http.json(call, isLink)).body;
      return { href: `${(url ?? baseUrl).replace(/\/$/, '')}${path}`, expires_at };
    },
  };
}
