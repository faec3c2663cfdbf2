import type { Client } from '../../../client/create-client.ts';
import { withDeadline } from '../../../client/http/deadline.ts';
import { canGoOn } from '../../../client/http/read-on.ts';
import { sleep } from '../../../client/http/sleep.ts';
import { oneLine } from '../../../core/printable.ts';
import type { CommandResult } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { notFound, wordOf } from '../../resources/not-found.ts';
import { toWaitCondition, type Verdict, type WaitCondition } from '../../waiting/wait-condition.ts';
import { toWaitTarget, type Standing, type WaitTarget } from '../../waiting/wait-target.ts';
import type { RunOf } from '../../commands.ts';

const ROUND_MS = 1_000;

export const run: RunOf<'wait'> = async ({ args, flags, context }) => {
  const target = toWaitTarget(args.target);
  const condition = flags.for ?? '';
  const judge = toWaitCondition(condition, target);
  const client = await context.connect();
  const { verdict, standing } = await wait({ client, target, judge, context });
  const result = toResult({ target, condition, verdict, standing });
  const why = verdict === 'impossible' ? await standing?.explain?.(context.signal) : undefined;
  return why ? { ...result, failure: why } : result;
};

interface Waiting {
  readonly client: Client;
  readonly target: WaitTarget;
  readonly judge: WaitCondition;
  readonly context: CommandContext;
}

interface Outcome {
  readonly verdict: Verdict;
  readonly standing: Standing | undefined;
}

/** Looks every second, as long as --timeout says; a gateway that does not answer is asked again. */
async function wait(waiting: Waiting): Promise<Outcome> {
  const { client, target, judge, context } = waiting;
  const { clock, timeoutMs, signal } = context;
  const deadline = withDeadline(clock, timeoutMs, signal);
  let seen: Outcome | undefined;
  try {
    for (;;) {
      try {
        const standing = await target.look(client, deadline.signal);
        const next = { standing, verdict: judge(standing) };
        if (seen === undefined && standing === undefined && next.verdict === 'impossible')
          throw notFound(target.sought);
        tell(next, seen, waiting);
        seen = next;
        if (seen.verdict !== 'waits') return seen;
        await sleep(clock, ROUND_MS, deadline.signal);
      } catch (thrown) {
        if (deadline.expired()) return seen ?? { verdict: 'waits', standing: undefined };
        if (seen === undefined || !canGoOn(thrown)) throw thrown;
        await sleep(clock, ROUND_MS, signal);
      }
    }
  } finally {
    deadline.clear();
  }
}

/** A line on a terminal whenever the status is another. */
function tell({ standing }: Outcome, before: Outcome | undefined, waiting: Waiting): void {
  const { io, output } = waiting.context;
  const isNews = before === undefined || before.standing?.status !== standing?.status;
  if (isNews && io.stderr.isTTY === true)
    output.note(`${titleOf(waiting.target)} is ${wordsOf(standing)}`);
}

function toResult({
  target,
  condition,
  verdict,
  standing,
}: Outcome & { target: WaitTarget; condition: string }): CommandResult {
  const title = titleOf(target);
  const outcome = verdict === 'waits' ? 'timeout' : verdict;
  const data = { target: title, condition, outcome, status: standing?.status ?? null };
  const text = `${title} is ${wordsOf(standing)}`;
  if (verdict === 'holds') return { data, text };
  const isLate = verdict === 'waits';
  return {
    data,
    text: '',
    failure: {
      code: isLate ? 'timeout' : 'condition_impossible',
      message: isLate
        ? `${text}; it ${lateWords(condition)} in time`
        : `${text} and can no longer be ${stateOf(condition)}`,
      hint: isLate ? 'run it again, or raise --timeout' : undefined,
      exitCode: (isLate ? EXIT.unknown_outcome : EXIT.run_failed).code,
    },
  };
}

function lateWords(condition: string): string {
  return condition === 'exists' ? 'did not appear' : `was not ${stateOf(condition)}`;
}

/** `status=idle` is idle. */
function stateOf(condition: string): string {
  return condition.replace(/^status=/, '');
}

function titleOf({ sought: { kind, named } }: WaitTarget): string {
  return oneLine(`${wordOf(kind)} ${named}`);
}

function wordsOf(standing: Standing | undefined): string {
  return standing?.status ?? 'not there';
}
