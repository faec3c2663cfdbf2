import { toShellArguments } from '../../../core/shell-word.ts';
import { requireOwner } from '../../chat/require-owner.ts';
import { chatWithSession, sendMessage } from '../../chat/session-chat.ts';
import { findResource } from '../../resources/find-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'agents chat'> = async ({ args, flags, context }) => {
  const { signal } = context;
  const client = await context.connect();
  const sought = { kind: 'agents', named: args.agent } as const;
  const find = async (): Promise<string> => (await findResource(client, sought, signal)).id;
  const { session } = flags;
  if (session !== undefined) await requireOwner(client, { ...sought, session, find, signal });
  return chatWithSession(context, {
    client,
    prompt: args.message,
    session,
    command: `gateway agents chat ${toShellArguments(args.agent)}`,
    async begin(text) {
      const { id } = await client.sessions.create({ agent: await find() }, signal);
      return sendMessage(client, id, text);
    },
  });
};
