import { CliError } from '../../cli-error.ts';
import type { RunOf } from '../../commands.ts';
import { lookUp } from '../../resources/not-found.ts';
import { sendEvents } from '../../waiting/show-turn.ts';

export const run: RunOf<'sessions interrupt'> = async ({ args, flags, context }) => {
  const { session } = args;
  const client = await context.connect();
  const { status, waiting } = await lookUp({ kind: 'sessions', named: session }, () =>
    client.sessions.get(session, context.signal),
  );
  if (!waiting && (status === 'idle' || status === 'terminated'))
    throw new CliError({
      code: 'session_not_running',
      exit: 'conflict',
      message: `nothing runs in Session ${session}: it is ${status}`,
    });
  const events = [{ type: 'user.interrupt' }] as const;
  const text = `interrupted ${session}`;
  return sendEvents({ context, flags }, { client, session, events, text });
};
