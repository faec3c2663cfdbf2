import { resolveSecret, SecretRef } from '../../config/objects/references.ts';
import type { SecretSource } from '../../config/objects/references.ts';
import { keyOf, SecretCommandError } from '../../config/objects/secret-commands.ts';
import type { SecretCommand, SecretCommands } from '../../config/objects/secret-commands.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import { secretRefs } from '../../config/read/secrets.ts';

/**
 * Settings of workers, with the variables of `.env` that they name: the same for all of them, whatever
 * becomes of the files meanwhile.
 */
export type WorkerSettings = Pick<GatewayConfig, 'server' | 'origins' | 'fromEnvFile'>;

/** The same in the first process, which can resolve secrets. */
export type SentSettings = WorkerSettings & Pick<GatewayConfig, 'sources'>;

/** Settings as a worker has them: commands of secrets ran in the first process. */
export interface ReceivedSettings extends WorkerSettings {
  readonly commands: SecretCommands;
}

/** Marks a reference to a secret, which as text would look like any other text. */
const SECRET = 'gateway:secret';

/**
 * Message from the first process to its workers. References to secrets stay references; what commands
 * printed goes with them. Rejects where a command gives no value.
 */
export async function toSettingsMessage({
  server,
  origins,
  fromEnvFile,
  sources,
}: SentSettings): Promise<string> {
  const mark = function (this: Record<string, unknown>, key: string, value: unknown): unknown {
    const given = this[key];
    if (!(given instanceof SecretRef)) return value;
    return { [SECRET]: [given.source, given.name, given.directory] };
  };
  const variables = { ...fromEnvFile };
  const outputs: [string, string][] = [];
  for (const { ref } of secretRefs(server))
    if (ref.source === 'exec') outputs.push([keyOf(ref), await resolveSecret(ref, sources)]);
  const message = { server, origins: [...origins], fromEnvFile: variables, outputs };
  return JSON.stringify(message, mark);
}

export function fromSettingsMessage(message: string): ReceivedSettings {
  const { server, origins, fromEnvFile, outputs } = JSON.parse(message, (_key, value: unknown) => {
    const parts = (value as Record<string, unknown> | null)?.[SECRET];
    if (!Array.isArray(parts)) return value;
    const [source, name, directory] = parts as [SecretSource, string, string];
    return new SecretRef(source, name, directory);
  }) as {
    server: WorkerSettings['server'];
    origins: [string, 'flag' | 'env' | 'file' | 'default'][];
    fromEnvFile: WorkerSettings['fromEnvFile'];
    outputs: [string, string][];
  };
  const values = new Map(outputs);
  const run = async (command: SecretCommand): Promise<string> => {
    const value = values.get(keyOf(command));
    if (value !== undefined) return value;
    throw new SecretCommandError('no command runs in a worker');
  };
  const commands = { run };
  return { server, origins: new Map(origins), fromEnvFile, commands };
}
