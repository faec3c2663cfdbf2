import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** OpenID provider that runs in the test. */
export interface IdentityProvider {
  readonly issuer: string;
  stop(): Promise<void>;
}

/** Groups by the name that a person signs in with. */
export type People = Readonly<Record<string, readonly string[]>>;

export const CLIENT_ID = 'gateway';
export const CLIENT_SECRET = 'a-secret-of-the-client-that-nobody-prints';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Seconds after which a device may ask again; no test waits longer. */
const INTERVAL = 0.1;
const MAX_STEPS = 20;

/** Starts a real provider on a free port that knows these people; passwords do not count. */
export async function startIdentityProvider(people: People): Promise<IdentityProvider> {
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => {
    listener(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { default: Provider } = await import('oidc-provider');
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        application_type: 'native',
        grant_types: ['authorization_code', DEVICE_GRANT],
        redirect_uris: ['http://127.0.0.1/console/sso/callback'],
      },
    ],
    scopes: ['openid', 'email', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['keys of the cookies of a test'] },
    features: { deviceFlow: { enabled: true } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@example.com`,
        email_verified: true,
        groups: people[id] ?? [],
      }),
    }),
  });
  provider.use(async (context, next) => {
    await next();
    if (context.path === '/device/auth' && context.status === 200)
      Object.assign(context.body as object, { interval: INTERVAL });
  });
  const handle = provider.callback();
  listener = (request, response) => void handle(request, response);
  return {
    issuer,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Does what a person does in a browser of their own: follows every redirect and sends every form, until a
 * page without a form or an address that does not begin with that of the provider. Gives the last address.
 */
export async function signInAs(login: string, href: string): Promise<string> {
  const { origin } = new URL(href);
  const jar = new Map<string, string>();
  let step: { href: string; body?: URLSearchParams } = { href };
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const answer = await fetch(step.href, {
      method: step.body ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(step.body && { body: step.body }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    const page = await answer.text();
    if (location) {
      const next = new URL(location, step.href);
      if (next.origin !== origin) return next.href;
      step = { href: next.href };
      continue;
    }
    const form = toForm(page, login);
    if (!form) return step.href;
    step = { href: new URL(form.action, step.href).href, body: form.body };
  }
  throw new Error(`no end of the sign-in at ${step.href}`);
}

function toForm(
  page: string,
  login: string,
): { action: string; body: URLSearchParams } | undefined {
  const [, action] = /<form[^>]*\baction="([^"]+)"/.exec(page) ?? [];
  if (action === undefined) return undefined;
  const body = new URLSearchParams();
  for (const [input] of page.matchAll(/<input[^>]*>/g)) {
    const [, name] = /\bname="([^"]+)"/.exec(input) ?? [];
    const [, value = ''] = /\bvalue="([^"]*)"/.exec(input) ?? [];
    if (name !== undefined) body.set(name, value);
  }
  if (body.has('login')) body.set('login', login);
  return { action, body };
}
