import { toShellArguments } from '../../../core/shell-word.ts';
import { requireOwner } from '../../chat/require-owner.ts';
import { chatWithSession } from '../../chat/session-chat.ts';
import { lookUp } from '../../resources/not-found.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'services chat'> = async ({ args, flags, context }) => {
  const { signal } = context;
  const client = await context.connect();
  const named = args.service;
  const sought = { kind: 'services', named } as const;
  const find = (): Promise<string> =>
    lookUp({ ...sought, isOwn: true }, () => client.services.find(named, signal));
  const { session } = flags;
  if (session !== undefined) await requireOwner(client, { ...sought, session, find, signal });
  return chatWithSession(context, {
    client,
    prompt: args.message,
    session,
    command: `gateway services chat ${toShellArguments(named)}`,
    async begin(input) {
      return client.services.run({ service: await find(), input, signal });
    },
  });
};
