import type { Protocol } from '../../protocols/registry.ts';

/** Operation that a call asks of the mock. */
export type MockOperation =
  | 'create'
  | 'count'
  | 'compact'
  | 'get'
  | 'content'
  | 'input_items'
  | 'cancel'
  | 'delete'
  | 'models';

/** Protocol that the mock speaks. */
export type MockProtocol = (typeof CREATE_PATHS)[number][1] | 'generate-content';

/** Protocols whose work can be looked up. */
export type TaskProtocol = 'interactions' | 'videos' | 'responses';

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
  [/\/responses\/input_tokens$/, 'responses', 'count'],
  [/\/responses\/compact$/, 'responses', 'compact'],
  [/\/messages$/, 'messages', 'create'],
  [/\/messages\/count_tokens$/, 'messages', 'count'],
  [/\/interactions$/, 'interactions', 'create'],
  [/\/embeddings$/, 'embeddings', 'create'],
  [/\/images\/(?:generations|edits)$/, 'images', 'create'],
  [/\/videos$/, 'videos', 'create'],
] as const satisfies readonly (readonly [RegExp, Protocol, MockOperation])[];
const GENERATE_CONTENT = /\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/;
const TASK = /\/(interactions|videos|responses)\/([^/]+?)(?:\/(\w+))?$/;
/** Operations on kept work that only one protocol has. */
const PARTS: Readonly<Record<string, MockOperation>> = {
  'GET videos content': 'content',
  'GET responses input_items': 'input_items',
  'POST responses cancel': 'cancel',
};

/**
 * Finds what a call means from the end of its path, so that any base URL (`/v1`, `/openai/v1`, none)
 * works. Undefined for an unknown path or method.
 */
export function toMockRoute(method: string, target: string): MockRoute | undefined {
  const [path = '', query = ''] = target.split('?', 2);
  const members = new URLSearchParams(query);
  const sse = members.get('alt') === 'sse';
  if (method === 'GET' && path.endsWith('/models'))
    return { operation: 'models', protocol: 'chat', sse };
  const created = method === 'POST' ? toCreateRoute(path, sse) : undefined;
  return created ?? toTaskRoute(method, path, { sse, stream: members.get('stream') === 'true' });
}

function toTaskRoute(
  method: string,
  path: string,
  form: Pick<MockRoute, 'sse' | 'stream'>,
): MockRoute | undefined {
  const [, name, id, part] = TASK.exec(path) ?? [];
  if (name === undefined) return undefined;
  const whole = method === 'GET' ? 'get' : method === 'DELETE' ? 'delete' : undefined;
  const operation = part === undefined ? whole : PARTS[`${method} ${name} ${part}`];
  return operation && { operation, protocol: name as TaskProtocol, id, ...form };
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
