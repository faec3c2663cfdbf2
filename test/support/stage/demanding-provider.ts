import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Authority } from '../certificates.ts';

export interface DemandingProvider {
  readonly url: string;
  /** Names in the certificates of the requests that it served. */
  readonly shown: unknown[];
  close(): void;
}

/** Serves chat completions to whoever shows a certificate of the authority (mutual TLS). */
export async function startDemandingProvider(authority: Authority): Promise<DemandingProvider> {
  const message = { role: 'assistant', content: 'from inside' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const answer = JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices, usage });
  const shown: unknown[] = [];
  const server = createServer(
    {
      ...authority.issue('models.corp.example'),
      ca: authority.ca,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      shown.push((request.socket as TLSSocket).getPeerCertificate().subject.CN);
      response.setHeader('content-type', 'application/json').end(answer);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  return {
    url: `https://127.0.0.1:${address.port}/v1`,
    shown,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
