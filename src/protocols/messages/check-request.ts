import { GatewayError } from '../../core/errors.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';

type Check = readonly [holds: (value: unknown) => boolean, expected: string];

const ROLES: readonly unknown[] = ['user', 'assistant', 'system'];

const isObjectList = (value: unknown): boolean => Array.isArray(value) && value.every(isJsonObject);
const isShare = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;

/** Members that may be absent, each with its check when present (contract: Messages protocol). */
const OPTIONAL: Readonly<Record<string, Check>> = {
  system: [
    (value) => typeof value === 'string' || isObjectList(value),
    'a string or an array of objects',
  ],
  temperature: [isShare, 'a number from 0 to 1'],
  top_p: [isShare, 'a number from 0 to 1'],
  top_k: [(value) => Number.isInteger(value) && (value as number) >= 0, 'an integer of at least 0'],
  stop_sequences: [
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
    'an array of strings',
  ],
  stream: [(value) => typeof value === 'boolean', 'a boolean'],
  metadata: [isJsonObject, 'an object'],
  tools: [isObjectList, 'an array of objects'],
  tool_choice: [isJsonObject, 'an object'],
  thinking: [isJsonObject, 'an object'],
};

/** Throws `invalid_request` with `param` for any other request; `model` is checked elsewhere. */
export function checkMessagesBody(json: JsonDocument): void {
  for (const [path, [holds, expected]] of Object.entries(OPTIONAL)) {
    const value = json.get(path);
    if (value !== undefined && !holds(value)) throw wrong(path, expected);
  }
  const messages = json.get('messages');
  if (!Array.isArray(messages)) throw wrong('messages', 'an array', messages === undefined);
  messages.forEach((message: unknown, index) => checkMessage(message, `messages[${index}]`));
}

/** The limit of a request that must have one. Throws `invalid_request` with `param`. */
export function readMaxTokens(limit: unknown): number {
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit > 0) return limit;
  throw wrong('max_tokens', 'a positive integer', limit === undefined);
}

function checkMessage(message: unknown, path: string): void {
  if (!isJsonObject(message)) throw wrong(path, 'an object');
  const { role, content } = message;
  if (!ROLES.includes(role)) throw wrong(`${path}.role`, '`user` or `assistant`');
  if (typeof content === 'string') return;
  if (!Array.isArray(content))
    throw wrong(`${path}.content`, 'a string or an array of content blocks');
  content.forEach((block: unknown, index) => {
    if (!isJsonObject(block) || typeof block['type'] !== 'string')
      throw wrong(`${path}.content[${index}]`, 'an object with a `type`');
  });
}

function wrong(param: string, expected: string, missing = false): GatewayError {
  const message = missing
    ? `\`${param}\` is required: ${expected}`
    : `\`${param}\` must be ${expected}`;
  return new GatewayError('invalid_request', { message, param });
}
