import { request } from 'node:http';
import type { TestGateway } from './gateway.ts';

/** A chat completion on a connection of its own, which any worker may get. */
export function freshChat({ url, clientKey }: TestGateway, model: string, key = clientKey) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const call = request(
      `${url}/v1/chat/completions`,
      {
        method: 'POST',
        agent: false,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    call.on('error', reject);
    const messages = [{ role: 'user', content: 'hello' }];
    call.end(JSON.stringify({ model, messages }));
  });
}
