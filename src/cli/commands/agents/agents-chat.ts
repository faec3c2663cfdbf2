import { toShellArguments } from '../../../core/shell-word.ts';
import { chatWithSession, sendMessage } from '../../chat/session-chat.ts';
import { findResource } from '../../resources/find-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'agents chat'> = async ({ args, flags, context }) => {
  const { signal } = context;
  const client = await context.connect();
  const sought = { kind: 'agents', named: args.agent } as const;
  return chatWithSession(context, {
    client,
    prompt: args.message,
    session: flags.session,
    command: `gateway agents chat ${toShellArguments(args.agent)}`,
    async begin(text) {
      const { id: agent } = await findResource(client, sought, signal);
      const { id } = await client.sessions.create({ agent }, signal);
      return sendMessage(client, id, text);
    },
  });
};
