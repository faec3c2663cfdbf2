import { lastUserText, toConversation, turnNumber } from './conversation.ts';
import type { Turn } from './conversation.ts';
import { MAX_INPUTS, toEmbeddingInputs } from './embedding.ts';
import { parseJsonObject } from './json.ts';
import type { JsonObject } from './json.ts';
import type { MockProtocol, MockRoute } from './mock-route.ts';
import { countInput, countTurns } from './tokens.ts';

/** Most bytes of a request body. */
export const MAX_MOCK_BODY = 64 * 1024 * 1024;

/** A call as it arrived; `path` may carry a query. Header names are in lower case. */
export interface MockHttpRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer | undefined;
}

/** Facts that the mock knows of a request that asks for an answer. */
export interface MockRequest {
  protocol: MockProtocol;
  model: string;
  stream: boolean;
  /** Stream as Server-Sent Events; false for the JSON array of generate-content. */
  sse: boolean;
  body: JsonObject;
  turns: Turn[];
  turn: number;
  userText: string;
  /** Estimated, the same in every protocol. */
  inputTokens: number;
}

/** Reads a request, or says what a provider would refuse in it. */
export function toMockRequest(
  http: MockHttpRequest,
  route: MockRoute,
): MockRequest | { invalid: string } {
  const body = readBody(http);
  if (!body) return { invalid: 'the body is not a JSON object' };
  const model = route.model ?? body.model;
  if (typeof model !== 'string' || model === '') return { invalid: 'model is required' };
  const { protocol } = route;
  if (
    protocol === 'messages' &&
    route.operation === 'create' &&
    typeof body.max_tokens !== 'number'
  ) {
    return { invalid: 'max_tokens: Field required' };
  }
  const inputs = protocol === 'embeddings' ? toEmbeddingInputs(body.input) : [];
  if (inputs.length > MAX_INPUTS) return { invalid: `input: at most ${MAX_INPUTS} texts` };
  const turns = toConversation(protocol, body);
  return {
    protocol,
    model,
    stream: route.stream ?? body.stream === true,
    sse: protocol !== 'generate-content' || route.sse,
    body,
    turns,
    turn: turnNumber(turns),
    userText: lastUserText(turns),
    inputTokens:
      protocol === 'embeddings'
        ? inputs.reduce((sum: number, input) => sum + countInput(input), 0)
        : countTurns(turns),
  };
}

function readBody({ headers, body }: MockHttpRequest): JsonObject | undefined {
  if (!body) return undefined;
  const type = String(headers['content-type'] ?? '');
  return type.startsWith('multipart/')
    ? parseForm(type, body)
    : parseJsonObject(body.toString('utf8'));
}

/**
 * The fields of a multipart body: text parts as strings, file parts as their number under `files`.
 * Undefined when the content type names no boundary.
 */
function parseForm(contentType: string, body: Buffer): JsonObject | undefined {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) return undefined;
  const fields: JsonObject = {};
  let files = 0;
  for (const part of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const headEnd = part.indexOf('\r\n\r\n');
    const head = part.slice(0, headEnd);
    const name = /\bname="([^"]*)"/i.exec(head)?.[1];
    if (headEnd < 0 || name === undefined) continue;
    if (/\bfilename="/i.test(head)) files++;
    else fields[name] = Buffer.from(part.slice(headEnd + 4, -2), 'latin1').toString('utf8');
  }
  return { ...fields, files };
}
