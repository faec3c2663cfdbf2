import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import type { Envelope } from '../../protocols/family.ts';
import { createPathFinder } from './find-meant-path.ts';
import type { MeantPath } from './find-meant-path.ts';

/** Longest path that an error repeats. */
const MAX_SHOWN = 200;
/** Beginning of what the official clients of the chat protocol call themselves. */
const CHAT_CLIENT = /^(?:Async)?(?:Azure)?OpenAI\//;

export interface PathRefusal {
  readonly error: GatewayError;
  readonly envelope: Envelope;
}

/**
 * Refuses paths that nothing serves with 404 `not_found`: names the path that was probably meant, in the
 * shape of the client's protocol.
 */
export function createPathRefuser(
  routes: readonly { readonly path: string; readonly envelope: Envelope }[],
): (request: IncomingMessage) => PathRefusal {
  const find = createPathFinder(routes.map(({ path }) => path));
  const envelopes = new Map(routes.map(({ path, envelope }) => [path, envelope]));
  return ({ url = '/', headers }) => {
    const [path = '/'] = url.split('?');
    const meant = find(path);
    const own = meant?.isBase ? envelopes.get(meant.route) : undefined;
    const absent = absentAt(path);
    return {
      error: new GatewayError('not_found', { message: absent?.message ?? toMessage(meant) }),
      envelope: envelopeOf(path, headers) ?? absent?.envelope ?? own ?? 'flat',
    };
  };
}

interface Absent {
  readonly at: RegExp;
  readonly message: string;
  /** Shape for clients that show none. Default: by the path. */
  readonly envelope?: Envelope;
}

/** What a path of the vendors' APIs is refused with that the gateway lacks. */
export const absentAt = (path: string): Absent | undefined =>
  ABSENT.find(({ at }) => at.test(path));

const ABSENT: readonly Absent[] = [
  {
    at: /^\/v1\/chat\/completions(\/|$)/,
    message:
      'chat completions are not kept here; what POST /v1/responses makes can be read at GET /v1/responses/{id}, and GET /v1/account/executions lists all calls',
    envelope: 'chat',
  },
  {
    at: /^\/v1\/conversations(\/|$)/,
    message:
      'there are no conversations here; continue a response with `previous_response_id` in POST /v1/responses, or keep a conversation with an Agent in a Session: POST /v1/sessions',
    envelope: 'chat',
  },
  {
    at: /^\/v1\/environments(\/|$)/,
    message:
      'no such path: there are no environments, and none is needed; leave environment_id out of POST /v1/sessions, or send any value. Tools run at the client, in MCP servers, or in a harness of server.harnesses',
  },
  {
    at: /^\/v1\/vaults(\/|$)/,
    message: 'no such path: there are no vaults; POST /v1/credentials keeps a secret for an Agent',
  },
];

function toMessage(meant: MeantPath | undefined): string {
  if (!meant || meant.path.length > MAX_SHOWN)
    return 'no such path; GET /openapi.json lists those that are there';
  return meant.isBase
    ? `no such path; ${meant.path} is there: look at the base address of the client`
    : `no such path; did you mean ${meant.path}?`;
}

/** Shape that the client speaks, as far as its headers or the version of the path show. */
function envelopeOf(path: string, headers: IncomingHttpHeaders): Envelope | undefined {
  if ('anthropic-version' in headers || 'anthropic-beta' in headers) return 'messages';
  if ('x-goog-api-client' in headers || 'x-goog-api-key' in headers || path.startsWith('/v1beta/'))
    return 'google';
  return CHAT_CLIENT.test(headers['user-agent'] ?? '') ? 'chat' : undefined;
}
