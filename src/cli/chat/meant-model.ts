import type { Client } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';
import { suggest } from '../../core/suggest.ts';
import { CliError } from '../cli-error.ts';
import { toFailure } from '../failure.ts';

/** Adds the name that was meant to the refusal of a model that does not exist. */
export async function withMeantModel<T>(
  client: Client,
  { model, signal }: { model: string; signal: AbortSignal },
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    if (!isUnknownModel(thrown)) throw thrown;
    // The refusal counts, also where the list cannot be read.
    const listed = await client.models.list({ type: '' }, signal).catch(() => []);
    const near = suggest(
      model,
      listed.map(({ id }) => id),
    );
    const hint = near?.startsWith('did you mean')
      ? near
      : '`gateway models list` shows what there is';
    const { code, message, status } = toFailure(thrown);
    throw new CliError({ code, message, hint, status, cause: thrown });
  }
}

function isUnknownModel(thrown: unknown): thrown is ClientError {
  return (
    thrown instanceof ClientError &&
    thrown.status === 404 &&
    (thrown.code === 'model_not_found' || thrown.message.startsWith('the model `'))
  );
}
