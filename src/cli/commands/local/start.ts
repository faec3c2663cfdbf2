import { EXIT } from '../../exit-codes.ts';
import { readsEnvFile } from '../../project/project.ts';
import type { RunOf } from '../../commands.ts';

/** Ends when the gateway does; everything in between is the server's. */
export const run: RunOf<'start'> = async ({ flags, context }) => {
  const check = flags.check;
  const { runStart } = await import('../../../server/process/run-start.ts');
  const exitCode = await runStart({
    configPaths: flags.config,
    host: flags.host,
    port: flags.port,
    allowExec: flags['allow-exec'],
    workers: flags.workers,
    watch: flags.watch,
    check,
    env: context.io.env,
    envFile: readsEnvFile(context.globals),
    isTerminal: context.io.stderr.isTTY === true,
    cwd: context.io.cwd,
  });
  // The log is the output of a server. A check has one outcome, and a document may be asked for.
  if (!check || context.format !== 'json') return { streamed: true, data: null, exitCode };
  if (exitCode === EXIT.ok.code) return { data: { valid: true } };
  const isInvalid = exitCode === EXIT.invalid_config.code;
  const failure = isInvalid
    ? { code: 'invalid_config', message: 'the configuration is invalid', exitCode }
    : { code: 'failed', message: 'a start would fail', exitCode };
  return { data: { valid: !isInvalid }, failure };
};
