import { createForward } from './forward.ts';
import { freePort } from './free-port.ts';

/** An address in addition to the gateway's own. */
export interface DevListener {
  /** Origin, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HttpsOptions {
  /** Origin of the gateway. */
  url: string;
  host: string;
  /** 0 takes a free one. */
  port: number;
}

/**
 * Serves the gateway over HTTPS with a certificate made for it, which no client trusts yet.
 *
 * @throws Error with a sentence that says what to do when the address cannot be had
 */
export async function listenWithHttps({ url, host, port }: HttpsOptions): Promise<DevListener> {
  const wanted = port === 0 ? await freePort(host) : port;
  // The library would take another port without a word.
  const { assertCanListen } = await import('../../server/http/listen.ts');
  await assertCanListen({ host, port: wanted });
  const { listen } = await import('listhen');
  const isEvery = host === '0.0.0.0' || host === '::';
  const listener = await listen(createForward({ url, isPublic: false }), {
    hostname: host,
    port: wanted,
    public: isEvery,
    https: { domains: ['localhost', '127.0.0.1', '::1', ...(isEvery ? [] : [host])] },
    showURL: false,
    autoClose: false,
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `https://${isEvery || host === '127.0.0.1' ? 'localhost' : name}:${wanted}`,
    close: () => listener.close(),
  };
}
