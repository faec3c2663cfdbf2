import type { CommandRun } from '../command.ts';

/** Ends when the gateway does; everything in between is the server's. */
export const run: CommandRun = async ({ flags, context }) => {
  const configPaths = flags.list('config');
  const { runStart } = await import('../../server/run-start.ts');
  const exitCode = await runStart({
    configPaths: configPaths.length === 0 ? ['gateway.yaml'] : configPaths,
    host: flags.text('host'),
    port: flags.number('port'),
    workers: flags.number('workers'),
    watch: flags.on('watch'),
    check: flags.on('check'),
    env: context.io.env,
    cwd: context.io.cwd,
  });
  return { streamed: true, data: null, exitCode };
};
