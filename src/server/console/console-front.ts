import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Lazy } from '../../core/lazy.ts';

/**
 * Takes a request before all other handling, which is `serve`. False: it has not taken it.
 */
export type Front = (
  request: IncomingMessage,
  response: ServerResponse,
  serve: RequestListener,
) => boolean;

/** Answers a request below `/console`. Never rejects. */
export type ConsoleServer = (
  request: IncomingMessage,
  response: ServerResponse,
  serve: RequestListener,
) => Promise<void>;

export const CONSOLE_PATH = '/console';

/** Takes `/console` and all below it. The console is loaded at the first such request. */
export function createConsoleFront(load: Lazy<ConsoleServer>): Front {
  return (request, response, serve) => {
    if (!isOfConsole(request.url ?? '')) return false;
    load().then(
      (answer) => answer(request, response, serve),
      () => void response.writeHead(500).end(),
    );
    return true;
  };
}

/** Answers 404 to every path but those of the console. */
export function consoleAlone(front: Front): Front {
  return (request, response, serve) => {
    if (!front(request, response, serve))
      response.writeHead(404, { 'content-type': 'text/plain' }).end('see /console\n');
    return true;
  };
}

function isOfConsole(target: string): boolean {
  if (!target.startsWith(CONSOLE_PATH)) return false;
  const next = target[CONSOLE_PATH.length];
  return next === undefined || next === '/' || next === '?';
}
