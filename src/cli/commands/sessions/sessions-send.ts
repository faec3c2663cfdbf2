import type { RunOf } from '../../commands.ts';
import { readPrompt } from '../../input/read-prompt.ts';
import { lookUp } from '../../resources/not-found.ts';
import { findWait, settleWait } from '../../waiting/find-wait.ts';
import { sendEvents } from '../../waiting/show-turn.ts';

export const run: RunOf<'sessions send'> = async ({ args, flags, context }) => {
  const { session } = args;
  const message = await readPrompt(args.message, context, 'gateway sessions send <session> "…"');
  const client = await context.connect();
  if (flags.follow || flags.tail) await settleWait(client, session, context);
  const find = findWait(client, session, context.signal);
  const wait = await lookUp({ kind: 'sessions', named: session }, find);
  if (wait)
    context.output.warn(`the message is taken up later: ${wait.message}\nhint: ${wait.hint}`);
  const events = [{ type: 'user.message', content: [{ type: 'text', text: message }] }] as const;
  const text = `sent to ${session}`;
  return sendEvents({ context, flags }, { client, session, events, text });
};
