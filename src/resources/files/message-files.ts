import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';

/** Most files of all messages that are taken together. */
const MAX_FILES = 100;

/** The id of the upload that a content block names. */
export function fileOf({ type, source }: Readonly<Record<string, unknown>>): string | undefined {
  if ((type !== 'image' && type !== 'document') || !isJsonObject(source)) return undefined;
  const { type: kind, file_id: id } = source;
  return kind === 'file' && typeof id === 'string' ? id : undefined;
}

/**
 * Every upload that messages name, by id, with the path of its first mention; `at` is the path of the messages.
 *
 * @throws GatewayError `invalid_request` for more than 100
 */
export function filesOf(messages: readonly unknown[], at: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const content = isJsonObject(message) ? message['content'] : undefined;
    for (const [place, block] of (Array.isArray(content) ? content : []).entries()) {
      const id = isJsonObject(block) ? fileOf(block) : undefined;
      const path = `${at}[${index}].content[${place}].source.file_id`;
      if (id !== undefined && !paths.has(id)) paths.set(id, path);
    }
  }
  if (paths.size <= MAX_FILES) return paths;
  throw new GatewayError('invalid_request', {
    message: `${at}: at most ${MAX_FILES} files`,
    param: at,
  });
}
