import { createHash } from 'node:crypto';
import type { Clock } from '../../core/time/clock.ts';
import { parseCassette } from './tape/cassette.ts';
import type { Cassette, CassetteInput } from './tape/cassette.ts';
import { createJournal } from './tape/journal.ts';
import type { MockCall } from './tape/journal.ts';
import { createMatcher } from './match.ts';
import { toMockError } from './mock-error.ts';
import { toMockRequest } from './mock-request.ts';
import type { MockHttpRequest, MockRequest } from './mock-request.ts';
import { toMockRoute } from './mock-route.ts';
import type { MockRoute } from './mock-route.ts';
import { toBodyScript, toJsonScript } from './tape/mock-script.ts';
import type { MockScript, PlainScript } from './tape/mock-script.ts';
import { reasoningMemberOf, refusalBy } from './strict/strict-vendors.ts';
import { toScript } from './renderers/script.ts';
import { toCompacted, toInputItems } from './renderers/responses.ts';
import { emptyMp4 } from './renderers/videos.ts';
import type { Rendering } from './renderers/renderer.ts';
import { RENDERERS } from './renderers/renderers.ts';
import { toReply } from './reply.ts';
import { createTasks } from './tasks.ts';
import type { Tasks } from './tasks.ts';

export interface MockEngineOptions {
  /** Script of the answers. Default: none. */
  cassette?: CassetteInput;
  clock: Clock;
}

/**
 * The mock without any I/O: a call goes in, a script for a player comes out.
 *
 * An answer is a function of the request and the cassette: the same request gives the same bytes, ids and
 * `created` included. Only objects that can be looked up later (interactions, videos) get an id and a time of
 * their own.
 */
export interface MockEngine {
  handle(request: MockHttpRequest): MockScript;
  /** Replaces the cassette and resets its counters; throws `unprocessable`, changing nothing. */
  load(cassette: unknown): void;
  /** The newest calls, oldest first (at most 1,000). */
  calls(): readonly MockCall[];
  clearCalls(): void;
}

/** 2026-01-01T00:00:00Z: answers must not change with the day they are asked for. */
const CREATED = 1_767_225_600;

/** Throws `unprocessable` for an invalid cassette, naming each fault with its path. */
export function createMockEngine({ cassette = {}, clock }: MockEngineOptions): MockEngine {
  let current = parseCassette(cassette);
  let matcher = createMatcher(current.rules);
  const journal = createJournal();
  const tasks = createTasks();
  let sequence = 0;

  function render(http: MockHttpRequest, request: MockRequest): Rendering {
    const scripted = matcher.match(request) ?? {};
    const lasting = isLasting(request);
    const now = clock.now();
    const id = requestHash(http, lasting ? `${now}:${++sequence}` : '');
    const created = lasting ? Math.floor(now / 1000) : CREATED;
    const reply = toReply(scripted, request, id);
    const { strict } = current;
    const reasoningMember = strict && reasoningMemberOf(strict, request.protocol);
    return { request, reply, scripted, id, created, reasoningMember };
  }

  function create(http: MockHttpRequest, request: MockRequest): PlainScript {
    const rendering = render(http, request);
    const script = toScript(RENDERERS[request.protocol], rendering);
    if ((isLasting(request) || isKept(request)) && script.status < 400) tasks.add(rendering);
    return script;
  }

  function answer(http: MockHttpRequest): { script: PlainScript; model?: string } {
    const route = toMockRoute(http.method, http.path);
    if (!route) return { script: refuse('chat', 404, `no such endpoint: ${http.method}`) };
    if (route.operation === 'models') return { script: toModelList(current) };
    if (route.id !== undefined) return { script: lookUp(tasks, route) };
    const request = toMockRequest(http, route);
    if ('invalid' in request) return { script: refuse(route.protocol, 400, request.invalid) };
    const refusal = current.strict && refusalBy(current.strict, request);
    if (refusal !== undefined) return { script: refuse(route.protocol, 400, refusal) };
    const script =
      route.operation === 'count'
        ? toCount(request)
        : route.operation === 'compact'
          ? toJsonScript(200, toCompacted(render(http, request)))
          : create(http, request);
    return { script, model: request.model };
  }

  return {
    handle(http) {
      const { script, model } = answer(http);
      const { method, path, headers, body = Buffer.alloc(0) } = http;
      return {
        call: journal.add({ at: clock.now(), method, path, model, headers, body }),
        ...script,
      };
    },
    load(next) {
      current = parseCassette(next);
      matcher = createMatcher(current.rules);
    },
    calls: () => journal.calls(),
    clearCalls: () => journal.clear(),
  };
}

function isLasting({ protocol, body }: MockRequest): boolean {
  if (protocol === 'responses') return body.background === true;
  return protocol === 'videos' || (protocol === 'interactions' && body.store !== false);
}

/** Responses are kept under the id that their request gives them. */
function isKept({ protocol, body }: MockRequest): boolean {
  return protocol === 'responses' && body.store !== false;
}

function requestHash({ path, body = Buffer.alloc(0) }: MockHttpRequest, salt: string): string {
  const [pathname = ''] = path.split('?', 1);
  return createHash('sha256')
    .update(`${pathname}\n${salt}\n`)
    .update(body)
    .digest('hex')
    .slice(0, 24);
}

function refuse(protocol: MockRoute['protocol'], status: number, message: string): PlainScript {
  return toJsonScript(status, RENDERERS[protocol].error(toMockError(status, { message })));
}

function toModelList({ models }: Cassette): PlainScript {
  return toJsonScript(200, {
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'mock' })),
  });
}

function toCount({ protocol, inputTokens }: MockRequest): PlainScript {
  if (protocol === 'responses')
    return toJsonScript(200, { object: 'response.input_tokens', input_tokens: inputTokens });
  const name = protocol === 'messages' ? 'input_tokens' : 'totalTokens';
  return toJsonScript(200, { [name]: inputTokens });
}

/** The `object` of what a protocol has deleted. */
const DELETED: Readonly<Record<string, string>> = {
  videos: 'video.deleted',
  interactions: 'interaction.deleted',
  responses: 'response',
};

function lookUp(tasks: Tasks, { operation, protocol, id = '', stream }: MockRoute): PlainScript {
  if (operation === 'delete') {
    return tasks.delete(id)
      ? toJsonScript(200, {
          id,
          deleted: true,
          object: DELETED[protocol],
        })
      : refuse(protocol, 404, `${id} not found`);
  }
  if (operation === 'content') {
    return tasks.isDone(id)
      ? toBodyScript(200, 'video/mp4', emptyMp4())
      : refuse(protocol, 404, 'no content to download');
  }
  const rendering = tasks.find(id);
  if (rendering && operation === 'input_items') return toJsonScript(200, toInputItems(rendering));
  if (rendering && stream && protocol === 'responses') {
    const request = { ...rendering.request, stream };
    return toScript(RENDERERS[protocol], { ...rendering, request });
  }
  const body = operation === 'cancel' ? tasks.cancel(id) : tasks.poll(id);
  return body ? toJsonScript(200, body) : refuse(protocol, 404, `${id} not found`);
}
