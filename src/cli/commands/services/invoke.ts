import { usageError } from '../../cli-error.ts';
import { lookUp } from '../../resources/not-found.ts';
import { readPrompt } from '../../input/read-prompt.ts';
import { findWait, settleWait } from '../../waiting/find-wait.ts';
import { showTurn } from '../../waiting/show-turn.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'invoke'> = async ({ args, flags, context }) => {
  const { output, signal } = context;
  const given = flags.input;
  if (given !== undefined && args.input !== undefined)
    throw usageError('the message is given twice', 'give it as the argument or with --input');
  const message = given ?? args.input;
  const input = await readPrompt(message, context, 'gateway invoke <service> "…"');
  const client = await context.connect();
  const named = args.service;
  const service = await lookUp({ kind: 'services', named, isOwn: true }, () =>
    client.services.find(named, signal),
  );
  const sessionId = flags.session;
  if (sessionId !== undefined && flags.follow) await settleWait(client, sessionId, context);
  const sent = await client.services.run({ service, input, sessionId, signal });
  if (flags.follow) {
    output.note(`session ${sent.session_id}`);
    return showTurn(client, sent, { context });
  }
  if (sessionId !== undefined) {
    // A key for nothing but Services may not look at Sessions.
    const wait = await findWait(client, sessionId, signal)().catch(() => undefined);
    if (wait) output.warn(`the message is taken up later: ${wait.message}\nhint: ${wait.hint}`);
  }
  return { data: sent, text: sent.session_id };
};
