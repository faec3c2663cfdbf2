import { EXIT } from '../exit-codes.ts';
import { toFailure } from '../failure.ts';
import type { CommandResult, Failure } from '../command.ts';
import type { Output } from '../output/output.ts';

/** End of a turn, or of the Session with it. */
export interface ShownEnd {
  readonly type: string;
  readonly error?: Readonly<Record<string, unknown>> | undefined;
}

export interface ShowOptions<T> {
  readonly output: Output;
  /** Text of an event on a terminal; '' for nothing. */
  textOf(event: T): string;
  /** True: an end that is a failure is the command's own (exit 7). */
  readonly isAwaited: boolean;
  /** Finds what the Session waits for, where a turn ends with that; undefined: for nothing any more. */
  readonly findWait?: (() => Promise<Failure | undefined>) | undefined;
}

/** Ends that are no failure of the turn; every other one is. */
const GOOD_ENDS: ReadonlySet<string> = new Set(['end_turn', 'refusal']);
/** Where the gateway does not say what for. */
const WAITING: Failure = {
  code: 'session_waiting',
  message: 'the session waits for an answer of its client',
  exitCode: EXIT.run_failed.code,
};

/** Writes events as they come. From the first one on the output is a stream, a failure its last line. */
export async function showEvents<T>(
  events: AsyncGenerator<T, ShownEnd, undefined>,
  { output, textOf, isAwaited, findWait }: ShowOptions<T>,
): Promise<CommandResult> {
  const writer = await output.events();
  try {
    let next = await events.next();
    while (!next.done) {
      await writer.write({ text: textOf(next.value), event: next.value });
      next = await events.next();
    }
    const { type } = next.value;
    const failure = isAwaited ? await failureOf(next.value, findWait) : undefined;
    await writer.end(type, failure);
    return { streamed: true, data: null, exitCode: failure?.exitCode ?? EXIT.ok.code };
  } catch (thrown) {
    const failure = toFailure(thrown);
    await writer.end(failure.code === 'aborted' ? 'interrupted' : 'error', failure);
    return { streamed: true, data: null, exitCode: failure.exitCode };
  }
}

async function failureOf(
  { type, error }: ShownEnd,
  findWait: ShowOptions<never>['findWait'],
): Promise<Failure | undefined> {
  if (type === 'requires_action') return (await findWait?.()) ?? WAITING;
  if (GOOD_ENDS.has(type)) return undefined;
  const reason = error?.['message'];
  const told = typeof reason === 'string' ? `: ${reason}` : '';
  return {
    code: type,
    message: `the turn ended with ${type}${told}`,
    exitCode: EXIT.run_failed.code,
  };
}
