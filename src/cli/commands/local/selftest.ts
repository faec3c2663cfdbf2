import { EXIT } from '../../exit-codes.ts';
import { oneLine } from '../../../core/printable.ts';
import { createProbe } from '../../selftest/probe.ts';
import { CHECKS, runChecks, type Outcome } from '../../selftest/run-checks.ts';
import { readOwnKey } from '../../connection/own-key.ts';
import type { Style } from '../../output/style.ts';
import type { RunOf } from '../../commands.ts';

/** A check makes several calls; one that hangs must not take the minute of other commands. */
const CALL_MS = 20_000;

export const run: RunOf<'selftest'> = async ({ flags, context }) => {
  const { io, signal, timeoutMs, output } = context;
  const against = flags.against;
  const found = await context.connection({
    given: against === undefined ? {} : { server: against },
  });
  // Nothing can be said with a key that is refused.
  await readOwnKey(await context.connectTo(found), signal);
  const probe = createProbe({
    server: found.server,
    apiKey: found.apiKey ?? '',
    model: flags.model,
    fetch: io.fetch ?? globalThis.fetch,
    timeoutMs: Math.min(timeoutMs, CALL_MS),
    signal,
  });
  const tell = ({ id, state }: Outcome) => {
    if (io.stderr.isTTY) output.note(`${state}  ${id}`);
  };
  const checks = await runChecks(CHECKS, probe, { signal, tell });
  const count = (state: Outcome['state']) => checks.filter((one) => one.state === state).length;
  const [passed, failed, skipped] = [count('pass'), count('fail'), count('skip')];
  const sum = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  return {
    data: { against: found.server, passed, failed, skipped, checks },
    text: (style) => [...checks.map((one) => render(one, style)), '', sum].join('\n'),
    ...(failed > 0 && {
      failure: {
        code: 'selftest_failed',
        message: `${failed} of ${checks.length} checks failed`,
        exitCode: EXIT.failed.code,
      },
    }),
  };
};

function render({ id, title, state, reason }: Outcome, style: Style): string {
  const mark = { pass: style.green, fail: style.red, skip: style.yellow }[state](state);
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`;
  return `${mark}  ${id}  ${style.dim(title)}${why}`;
}
