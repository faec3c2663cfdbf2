import type { ServerResponse } from 'node:http';
import { askRaw } from './raw-client.ts';
import type { RawAnswer } from './raw-client.ts';
import { sendJson, startUpstream } from './stage/upstream.ts';
import type { SeenRequest, Upstream } from './stage/upstream.ts';
import type { TestGateway } from './gateway.ts';

export const INTERACTIONS_PATH = '/v1beta/interactions';

/** A provider at an address that speaks nothing else. */
export function interactionsProvider(name: string, url: string, extra: object = {}): object {
  return {
    name,
    type: 'custom',
    base_url: `${url}/v1beta`,
    auth: { type: 'none' },
    protocols: { interactions: true },
    ...extra,
  };
}

/** A model at one provider, a dollar for a million tokens of each side. */
export function interactionsModel(name: string, provider: string, extra: object = {}): object {
  return {
    name,
    pricing: { input: '1', output: '1' },
    routes: [{ provider, upstream_model: 'up' }],
    ...extra,
  };
}

/** The exact bytes that a client gets. */
export function getBytes(gateway: TestGateway, id: string, query = ''): Promise<RawAnswer> {
  return askRaw(`${gateway.url}${INTERACTIONS_PATH}/${id}${query}`, {
    method: 'GET',
    headers: { authorization: `Bearer ${gateway.clientKey}` },
  });
}

export interface ScriptedProvider extends Upstream {
  /** What a create is answered; an object as JSON. */
  created: unknown;
  /** What a look is answered; undefined: nobody knows the interaction. */
  found: unknown;
  /** Sends a create something else than `created`. */
  play: ((response: ServerResponse, request: SeenRequest) => void) | undefined;
  /** How often an interaction was looked at so far. */
  looks(id: string): number;
}

/** A provider of one interaction, whose every state is the test's own. */
export async function startScripted(): Promise<ScriptedProvider> {
  const script: Pick<ScriptedProvider, 'created' | 'found' | 'play'> = {
    created: { id: 'v1_one', status: 'in_progress' },
    found: undefined,
    play: undefined,
  };
  const upstream = await startUpstream((response, request) => {
    if (request.method === 'POST' && script.play) script.play(response, request);
    else if (request.method === 'POST') sendJson(response, 200, script.created);
    else if (script.found !== undefined) sendJson(response, 200, script.found);
    else sendJson(response, 404, { error: { code: 404, message: 'gone', status: 'NOT_FOUND' } });
  });
  return Object.assign(script, {
    url: upstream.url,
    seen: upstream.seen,
    close: () => upstream.close(),
    looks: (id: string) =>
      upstream.seen.filter(
        ({ method, url }) => method === 'GET' && url.split('?')[0] === `${INTERACTIONS_PATH}/${id}`,
      ).length,
  });
}
