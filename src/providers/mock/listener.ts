import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '../../core/time/clock.ts';
import type { Clock } from '../../core/time/clock.ts';
import { toGatewayError } from '../../core/errors.ts';
import type { MockEngine } from './engine.ts';
import type { MockCall } from './tape/journal.ts';
import { MAX_MOCK_BODY } from './mock-request.ts';
import { playScript } from './tape/play-script.ts';

const SECRET_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-gateway-upstream-authorization',
  'api-key',
  'x-goog-api-key',
  'x-native-api-key',
  'cookie',
]);

/**
 * Serves the engine over node:http: every protocol, `GET /v1/models`, `GET /healthz`, and for tests
 * `POST /__mock/cassette` (replaces the cassette; 422 names the faults), `GET /__mock/calls` (the
 * newest calls, credentials masked) and `DELETE /__mock/calls`. Bodies beyond 64 MiB answer 413.
 */
export function createMockListener(
  engine: MockEngine,
  clock: Clock = systemClock,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    serve({ engine, clock, req, res }).catch(() => res.destroy());
  };
}

interface Exchange {
  engine: MockEngine;
  clock: Clock;
  req: IncomingMessage;
  res: ServerResponse;
}

async function serve({ engine, clock, req, res }: Exchange): Promise<void> {
  const { method = 'GET', url: path = '/', headers } = req;
  const body = await readBody(req);
  if (!body) return sendJson(res, 413, { error: { message: 'request body is too large' } });
  if (path === '/healthz') return sendJson(res, 200, { status: 'ok' });
  if (path.startsWith('/__mock/')) return control(engine, res, { method, path, body });
  await playScript(engine.handle({ method, path, headers, body }), res, clock);
}

function control(
  engine: MockEngine,
  res: ServerResponse,
  { method, path, body }: { method: string; path: string; body: Buffer },
): void {
  switch (`${method} ${path}`) {
    case 'GET /__mock/calls':
      return sendJson(res, 200, { calls: engine.calls().map(toView) });
    case 'DELETE /__mock/calls':
      engine.clearCalls();
      return void res.writeHead(204).end();
    case 'POST /__mock/cassette':
      return loadCassette(engine, res, body);
    default:
      return sendJson(res, 404, { error: { message: 'not found' } });
  }
}

function loadCassette(engine: MockEngine, res: ServerResponse, body: Buffer): void {
  let cassette: unknown;
  try {
    cassette = JSON.parse(body.toString('utf8'));
  } catch {
    return sendJson(res, 400, { error: { message: 'request body is not valid JSON' } });
  }
  try {
    engine.load(cassette);
  } catch (error) {
    const { status, message } = toGatewayError(error);
    return sendJson(res, status, { error: { message } });
  }
  res.writeHead(204).end();
}

function toView({ body, headers, path, ...rest }: MockCall): Record<string, unknown> {
  return {
    ...rest,
    path: path.replace(/([?&]key=)[^&]*/, '$1***'),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        SECRET_HEADERS.has(name) ? mask(String(value)) : value,
      ]),
    ),
    body: body.toString('utf8'),
  };
}

/** Keeps what tells two test keys apart: the scheme and the last four characters of a long value. */
function mask(value: string): string {
  const scheme = /^\w+ (?=.)/.exec(value)?.[0] ?? '';
  const secret = value.slice(scheme.length);
  return `${scheme}***${secret.length >= 16 ? secret.slice(-4) : ''}`;
}

/** Undefined when the body is too large. */
async function readBody(req: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total <= MAX_MOCK_BODY) chunks.push(chunk);
  }
  return total <= MAX_MOCK_BODY ? Buffer.concat(chunks) : undefined;
}

function sendJson(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
