import type { CommandRun } from '../command.ts';
import { configPaths } from '../project.ts';

/** Ends when the gateway does; everything in between is the server's. */
export const run: CommandRun = async ({ flags, context }) => {
  const paths = configPaths(flags.list('config'), context.io.cwd);
  const { runStart } = await import('../../server/run-start.ts');
  const exitCode = await runStart({
    configPaths: paths,
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
