import type { InputOf, RunOf } from '../../commands.ts';
import type { CommandResult } from '../../command.ts';
import { lookUp } from '../../resources/not-found.ts';
import { toConfirmation } from '../../waiting/answers.ts';
import type { Verdict } from '../../waiting/answers.ts';
import { pickCalls } from '../../waiting/pick-calls.ts';
import { sendEvents } from '../../waiting/show-turn.ts';

export const run: RunOf<'sessions allow'> = (input) => decide(input, { result: 'allow' });

/** Sends the decision about the calls that the command names. */
export async function decide(
  { args, rest: named, flags, context }: InputOf<'sessions allow'>,
  verdict: Verdict,
): Promise<CommandResult> {
  const client = await context.connect();
  const { session } = args;
  const { waiting } = await lookUp({ kind: 'sessions', named: session }, () =>
    client.sessions.get(session, context.signal),
  );
  const wanted = { session, waiting, named, all: flags.all, asksPermission: true };
  const calls = pickCalls(wanted);
  const events = calls.map((call) => toConfirmation(call, verdict));
  const done = verdict.result === 'allow' ? 'allowed' : 'denied';
  const text = calls.map(({ id, name }) => `${done} ${name} (${id})`).join('\n');
  return sendEvents({ context, flags }, { client, session, events, text });
}
