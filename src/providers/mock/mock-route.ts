import type { Protocol } from '../../protocols/registry.ts';

/** Operation that a call asks of the mock. */
export type MockOperation = 'create' | 'count' | 'get' | 'content' | 'delete' | 'models';

/** Protocol that the mock speaks. */
export type MockProtocol = (typeof CREATE_PATHS)[number][1] | 'generate-content';

export interface MockRoute {
  operation: MockOperation;
  protocol: MockProtocol;
  /** Name in the path, where the protocol keeps it there. */
  model?: string;
  /** Id of background work. */
  id?: string;
  /** True for a stream, where the path shows it. */
  stream?: boolean;
  /** True for `?alt=sse`. */
  sse: boolean;
}

const CREATE_PATHS = [
  [/\/chat\/completions$/, 'chat', 'create'],
  [/\/responses$/, 'responses', 'create'],
  [/\/messages$/, 'messages', 'create'],
  [/\/messages\/count_tokens$/, 'messages', 'count'],
  [/\/interactions$/, 'interactions', 'create'],
  [/\/embeddings$/, 'embeddings', 'create'],
  [/\/images\/(?:generations|edits)$/, 'images', 'create'],
  [/\/videos$/, 'videos', 'create'],
] as const satisfies readonly (readonly [RegExp, Protocol, MockOperation])[];
const GENERATE_CONTENT = /\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/;
const TASK = /\/(interactions|videos)\/([^/]+?)(\/content)?$/;

/**
 * Finds what a call means from the end of its path, so that any base URL (`/v1`, `/openai/v1`, none)
 * works. Undefined for an unknown path or method.
 */
export function toMockRoute(method: string, target: string): MockRoute | undefined {
  const [path = '', query = ''] = target.split('?', 2);
  const sse = new URLSearchParams(query).get('alt') === 'sse';
  if (method === 'POST') return toCreateRoute(path, sse);
  if (method === 'GET' && path.endsWith('/models'))
    return { operation: 'models', protocol: 'chat', sse };
  const task = TASK.exec(path);
  if (!task || (method !== 'GET' && method !== 'DELETE')) return undefined;
  const protocol = task[1] === 'videos' ? 'videos' : 'interactions';
  if (task[3] && (method !== 'GET' || protocol !== 'videos')) return undefined;
  const operation = method === 'DELETE' ? 'delete' : task[3] ? 'content' : 'get';
  return { operation, protocol, id: task[2], sse };
}

function toCreateRoute(path: string, sse: boolean): MockRoute | undefined {
  const generate = GENERATE_CONTENT.exec(path);
  if (generate) {
    const [, model = '', method] = generate;
    return {
      operation: method === 'countTokens' ? 'count' : 'create',
      protocol: 'generate-content',
      model: decodePath(model),
      stream: method === 'streamGenerateContent',
      sse,
    };
  }
  const found = CREATE_PATHS.find(([pattern]) => pattern.test(path));
  return found && { protocol: found[1], operation: found[2], sse };
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
