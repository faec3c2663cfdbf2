import { GatewayError } from '../core/errors.ts';
import { filesOf } from '../resources/files/message-files.ts';
import { toInput } from './log/send-events.ts';
import type { Sessions } from './sessions.ts';

/** True when the organization has this upload. */
export type HasFile = (organization: string, id: string) => Promise<boolean>;

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
    async send(organization, id, input) {
      const { events } = toInput(input);
      await refuseUnknown(events, { at: 'events', organization, hasFile });
      return sessions.send(organization, id, input);
    },
  };
}

async function refuseUnknown(
  events: readonly unknown[],
  { at, organization, hasFile }: { at: string; organization: string; hasFile: HasFile },
): Promise<void> {
  for (const [id, param] of filesOf(events, at)) {
    if (await hasFile(organization, id)) continue;
    const message = `${param}: no file \`${id.slice(0, 80)}\``;
    throw new GatewayError('not_found', { message, param });
  }
}
