import { toShellArguments } from '../../../core/shell-word.ts';
import { chatWithSession } from '../../chat/session-chat.ts';
import { lookUp } from '../../resources/not-found.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'services chat'> = async ({ args, flags, context }) => {
  const { signal } = context;
  const client = await context.connect();
  const named = args.service;
  return chatWithSession(context, {
    client,
    prompt: args.message,
    session: flags.session,
    command: `gateway services chat ${toShellArguments(named)}`,
    async begin(input) {
      const find = () => client.services.find(named, signal);
      const service = await lookUp({ kind: 'services', named, isOwn: true }, find);
      return client.services.run({ service, input, signal });
    },
  });
};
