import { withMeantModel } from '../../chat/meant-model.ts';
import { ClientError } from '../../../client/http/client-error.ts';
import { isRunOver } from '../../../client/runs.ts';
import type { RunView } from '../../../client/runs.ts';
import { stringifyWithRaw } from '../../../core/json/raw.ts';
import { usageError } from '../../cli-error.ts';
import type { CommandResult, Failure } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { toFailure } from '../../failure.ts';
import { readJsonValue } from '../../input/read-json-value.ts';
import { renderFields } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

/** The server answers before the client gives up. */
const MARGIN_MS = 5_000;

export const run: RunOf<'run'> = async ({ args, flags, context }) => {
  const { clock, signal, timeoutMs } = context;
  const given = flags.input;
  if (given === undefined)
    throw usageError('--input is missing', 'gateway run MODEL --input \'{"prompt": "a fox"}\'');
  const input = await readJsonValue(given, 'input', context);
  const isAsync = flags.async;
  const client = await context.connect();
  const end = clock.monotonic() + timeoutMs;
  const request = {
    model: args.model,
    input,
    async: isAsync,
    webhook_url: flags['webhook-url'],
  };
  const waitMs = isAsync ? 0 : timeoutMs - MARGIN_MS;
  const made = await withMeantModel(client, { model: args.model, signal }, () =>
    client.runs.create(request, { waitMs, signal }),
  );
  if (!flags.wait || isRunOver(made)) return shown(made);
  try {
    const left = Math.max(0, end - clock.monotonic());
    return shown(await client.runs.ended(made, { timeoutMs: left, signal }));
  } catch (thrown) {
    if (!(thrown instanceof ClientError) || thrown.code !== 'timeout') throw thrown;
    const hint = `the run continues: gateway api GET /v1/run/${made.id}`;
    return { ...shown(made), failure: { ...toFailure(thrown), hint } };
  }
};

/** Output of a run for people; for a pending one, the command that looks it up. */
function shown(made: RunView): CommandResult {
  const failure = made.error === null ? undefined : failureOf(made, made.error);
  const { output, ...fields } = made;
  return {
    data: made,
    text: (style) =>
      made.output === null ? renderFields(fields, style) : stringifyWithRaw(output, '  '),
    ...(failure && { failure }),
  };
}

function failureOf({ id }: RunView, { code, message }: { code: string; message: string }): Failure {
  return { code, message: `run ${id} failed: ${message}`, exitCode: EXIT.run_failed.code };
}
