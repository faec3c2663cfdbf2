import { GatewayError } from '../core/errors.ts';
import { isJsonObject } from '../core/json-value.ts';
import type { Sessions } from './sessions.ts';

/** Whether the organization has this upload. */
export type HasFile = (organization: string, id: string) => Promise<boolean>;

/** Of one call. */
const MAX_FILES = 100;

/** The id of the upload that a content block names. */
export function fileOf({ type, source }: Readonly<Record<string, unknown>>): string | undefined {
  if ((type !== 'image' && type !== 'document') || !isJsonObject(source)) return undefined;
  const { type: kind, file_id: id } = source;
  return kind === 'file' && typeof id === 'string' ? id : undefined;
}

/**
 * Sessions that take only input whose files are there: `create` and `send` throw `not_found` with the
 * path of the first that is not, and `invalid_request` for more than 100.
 */
export function withKnownFiles(sessions: Sessions, hasFile: HasFile): Sessions {
  return {
    ...sessions,
    async create(input) {
      const { organization, events = [] } = input;
      await refuseUnknown(events, { at: 'initial_events', organization, hasFile });
      return sessions.create(input);
    },
    async send(organization, id, events) {
      await refuseUnknown(events, { at: 'events', organization, hasFile });
      return sessions.send(organization, id, events);
    },
  };
}

async function refuseUnknown(
  events: readonly unknown[],
  { at, organization, hasFile }: { at: string; organization: string; hasFile: HasFile },
): Promise<void> {
  const paths = new Map<string, string>();
  for (const [index, event] of events.entries()) {
    const content = isJsonObject(event) ? event['content'] : undefined;
    for (const [place, block] of (Array.isArray(content) ? content : []).entries()) {
      const id = isJsonObject(block) ? fileOf(block) : undefined;
      const path = `${at}[${index}].content[${place}].source.file_id`;
      if (id !== undefined && !paths.has(id)) paths.set(id, path);
    }
  }
  if (paths.size > MAX_FILES) {
    const message = `${at}: at most ${MAX_FILES} files`;
    throw new GatewayError('invalid_request', { message, param: at });
  }
  for (const [id, param] of paths) {
    if (await hasFile(organization, id)) continue;
    const message = `${param}: no file \`${id.slice(0, 80)}\``;
    throw new GatewayError('not_found', { message, param });
  }
}
