import type { Answer, TestGateway } from '../../support/gateway.ts';
import { ask } from '../../support/gateway.ts';

/** Browser that is signed in, as far as HTTP knows of it. */
export interface ConsoleClient {
  readonly signedIn: Answer;
  readonly cookie: string;
  readonly csrf: string;
  /** Call of a page of the console; `path` as the API has it. */
  call(method: string, path: string, options?: ConsoleCall): Promise<Answer>;
}

export interface ConsoleCall {
  body?: unknown;
  headers?: Record<string, string>;
}

/** Headers that a browser sends of its own page. */
export function ownPage(url: string): Record<string, string> {
  return { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' };
}

export async function signIn(
  { url }: Pick<TestGateway, 'url'>,
  body: { key: string } | { link: string },
): Promise<ConsoleClient> {
  const signedIn = await ask(`${url}/console/api/session`, {
    method: 'POST',
    body,
    headers: ownPage(url),
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { csrf = '' } = signedIn.body;
  return {
    signedIn,
    cookie,
    csrf,
    call: (method, path, { body: sent, headers = {} } = {}) =>
      ask(`${url}/console/api${path}`, {
        method,
        body: sent,
        headers: { cookie, 'x-gateway-csrf': csrf, ...ownPage(url), ...headers },
      }),
  };
}
