import type { Client } from '../../client/create-client.ts';
import type { TailEnd } from '../../client/tail-session.ts';
import type { CommandInput, CommandResult, CommandRun } from '../command.ts';
import { eventLine, typesOf } from '../event-line.ts';
import { EXIT } from '../exit-codes.ts';
import { toFailure } from '../failure.ts';
import type { Failure } from '../output.ts';
import { skipMissing } from '../skip-missing.ts';

/** Ways in which a turn ends without having failed. */
const ENDS = new Set(['end_turn', 'requires_action', 'refusal']);

export const run: CommandRun = (input) =>
  skipMissing(input.flags, async () => {
    const { args, context } = input;
    const client = await context.connect();
    const { id } = await client.sessions.get(args['id'] ?? '', context.signal);
    return tail(client, id, input);
  });

async function tail(
  client: Client,
  id: string,
  { flags, context }: CommandInput,
): Promise<CommandResult> {
  const { output, signal } = context;
  const types = typesOf(flags);
  const untilRest = flags.on('until-done');
  // From here on the output is a stream, and a failure is its last line.
  const writer = await output.events();
  try {
    const events = client.sessions.tail(id, { untilRest, signal });
    let next = await events.next();
    while (!next.done) {
      const event = next.value;
      if (types?.includes(event.type) ?? true)
        await writer.write({ text: `${eventLine(event)}\n`, event });
      next = await events.next();
    }
    const failure = untilRest ? failureOf(next.value) : undefined;
    await writer.end(next.value.type, failure);
    if (next.value.type === 'requires_action')
      output.note('the session waits for an answer of its client');
    return { streamed: true, data: null, exitCode: failure?.exitCode ?? 0 };
  } catch (thrown) {
    const failure = toFailure(thrown);
    await writer.end(failure.code === 'aborted' ? 'interrupted' : 'error', failure);
    return { streamed: true, data: null, exitCode: failure.exitCode };
  }
}

function failureOf({ type, error }: TailEnd): Failure | undefined {
  if (ENDS.has(type)) return undefined;
  const reason = error?.['message'];
  const told = typeof reason === 'string' ? `: ${reason}` : '';
  const message = `the session ended with ${type}${told}`;
  return { code: type, message, exitCode: EXIT.run_failed.code };
}
