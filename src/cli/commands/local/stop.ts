import { createLiveness, readRuntimes } from '../../../core/process/runtime-file.ts';
import { CliError } from '../../cli-error.ts';
import { lookUntil, requireOwn, signalOwn } from '../../local/own-gateway.ts';
import { shownPath } from '../../output/shown-path.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'stop'> = async (input) => {
  const { context } = input;
  const { folder, runtime, pid } = await requireOwn(input);
  const { place, url } = runtime.record;
  const begun = context.clock.monotonic();
  signalOwn(pid, 'SIGTERM');
  context.output.note(`process ${pid} at ${url} stops: calls under way end first`);
  const liveness = createLiveness();
  const isGone = await lookUntil(context, () =>
    place && liveness?.isGone(place) ? true : undefined,
  );
  if (!isGone)
    throw new CliError({
      code: 'still_stopping',
      message: `process ${pid} got SIGTERM and has not ended within ${context.timeoutMs / 1000} s`,
      hint: 'it ends by itself once its calls have ended, or server.drain is over; wait on with `gateway stop --timeout 2m`',
      exit: 'unknown_outcome',
    });
  const ms = Math.round(context.clock.monotonic() - begun);
  const others = readRuntimes(folder.dataDir).filter(({ state }) => state !== 'ended');
  const lines = [
    `stopped: process ${pid} ended after ${(ms / 1000).toFixed(1)} s`,
    ...others.map(
      ({ record }) =>
        `process ${record.pid} still serves ${shownPath(folder.dataDir, context.io.cwd)} at ${record.url}`,
    ),
  ];
  return { data: { pid, url, ms, others: others.length }, text: lines.join('\n') };
};
