import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import { FAMILY_ROWS } from '../../e2e/fuzz/families.ts';
import type { Document } from '../../e2e/api/openapi-checker.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { PNG } from '../../support/stage/media-studio.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';
import { isEndless } from './is-endless.ts';

/** What no answer may hold: the credentials that the gateway keeps. */
export const CANARIES = {
  provider: 'canary-provider-41c7',
  api: 'canary-api-90be',
  credential: 'canary-credential-5d12',
  hook: 'canary-hook-77af',
};

/** What a call sends; a form in place of `body` where that is how it is said. */
export interface Call {
  method: string;
  path: string;
  body?: unknown;
  form?: readonly (readonly [name: string, value: string | Blob])[];
  headers?: Record<string, string>;
}

/** Whoever has a key. */
export interface Member {
  readonly organization: string;
  readonly key: string;
  send(call: Call): Promise<Answer>;
  /** The body of a call that must succeed. */
  made(call: Call): Promise<Answer['body']>;
}

/** A gateway with every kind of model, an API, and everything outside that it may reach, all healthy. */
export interface ApiWorld {
  readonly gateway: TestGateway;
  readonly document: Document;
  /** Serves media, takes webhooks and chat messages, and is an API. */
  readonly outside: Upstream;
  addMember(name: string, key?: object): Promise<Member>;
  stop(): Promise<void>;
}

export async function startApiWorld(
  server: object = {},
  options: StartGatewayOptions = {},
): Promise<ApiWorld> {
  const mock = await startMockServer({
    cassette: { rules: [{ match: { model: 'film' }, reply: { polls: 0 } }] },
  });
  const outside = await startUpstream((response, { url }) => {
    if (!url.startsWith('/photo.png')) return sendJson(response, 200, { fine: true });
    response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
  });
  const gateway = await startGateway(configOf(mock.url, outside.url, server), {
    ...options,
    env: { PROVIDER_KEY: CANARIES.provider, API_KEY: CANARIES.api },
  });
  const { body: document } = await gateway.call('GET', '/openapi.json', { key: '' });
  return {
    gateway,
    document,
    outside,
    async addMember(name, key = {}) {
      const owner = await gateway.admin('POST', '/admin/v1/organizations', { name });
      const organization: string = owner.body.id;
      const asked = { name: `${name}-key`, organization, ...key };
      const made = await gateway.admin('POST', '/admin/v1/keys', asked);
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
      return toMember(gateway, organization, made.body.value);
    },
    async stop() {
      await gateway.stop();
      await Promise.all([mock.close(), outside.close()]);
    },
  };
}

function configOf(mock: string, outside: string, server: object): object {
  const protocols = FAMILY_ROWS.map(
    ({ protocol, upstreamPath: path }) => [protocol, { path }] as const,
  );
  const types = { llm: 'text', embedding: 'vectors', image: 'pictures', video: 'film' };
  return {
    server: {
      limits: { interaction_wait: '100ms', body: '1MiB' },
      outbound: { allow: [new URL(outside).host] },
      notifications: {
        webhooks: { ours: { url: `${outside}/bots`, format: 'slack', success: 'status' } },
      },
      ...server,
    },
    providers: [
      {
        name: 'mock',
        type: 'custom',
        base_url: mock,
        api_key: '${secret:env:PROVIDER_KEY}',
        protocols: Object.fromEntries(protocols),
      },
    ],
    models: Object.entries(types).map(([type, name]) => ({
      name: `acme/${name}`,
      type,
      routes: [{ provider: 'mock', upstream_model: name, pricing: 'free' }],
    })),
    apis: [
      { name: 'weather', base_url: outside, api_key: '${secret:env:API_KEY}', pricing: 'free' },
    ],
  };
}

function toMember(gateway: TestGateway, organization: string, key: string): Member {
  const send: Member['send'] = async ({ method, path, body, form, headers }) => {
    const type = body !== undefined && { 'content-type': 'application/json' };
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...type, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(form && { body: toForm(form) }),
    });
    const { status, headers: told } = response;
    if (!isEndless({ method, status, type: told.get('content-type') }))
      return toAnswer(response, await response.text());
    await response.body?.cancel();
    return toAnswer(response, '');
  };
  return {
    organization,
    key,
    send,
    async made(call) {
      const { status, body } = await send(call);
      if (status < 300) return body;
      throw new Error(`${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`);
    },
  };
}

function toForm(fields: NonNullable<Call['form']>): FormData {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, name === 'file' ? 'note.txt' : 'photo.png');
  }
  return form;
}

function toAnswer({ status, headers }: Response, text: string): Answer {
  const isJson = headers.get('content-type')?.startsWith('application/json') && text !== '';
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

/** Waits until a member's own view of something is as wanted, and gives it. */
export function whenever(
  member: Member,
  path: string,
  fits: (body: Answer['body']) => boolean,
): Promise<Answer['body']> {
  return eventually(async () => {
    const { body } = await member.send({ method: 'GET', path });
    return fits(body) && body;
  });
}
