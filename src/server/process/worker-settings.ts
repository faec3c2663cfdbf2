import { SecretRef } from '../../config/objects/references.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';

/**
 * Settings of workers, with the variables of `.env` that they name: the same for all of them, whatever
 * becomes of the files meanwhile.
 */
export type WorkerSettings = Pick<GatewayConfig, 'server' | 'origins' | 'fromEnvFile'>;

/** Marks a reference to a secret, which as text would look like any other text. */
const SECRET = 'gateway:secret';

/** Message from the first process to its workers. References to secrets stay references. */
export function toSettingsMessage({ server, origins, fromEnvFile }: WorkerSettings): string {
  const mark = function (this: Record<string, unknown>, key: string, value: unknown): unknown {
    const given = this[key];
    if (!(given instanceof SecretRef)) return value;
    return { [SECRET]: [given.source, given.name, given.directory] };
  };
  const variables = { ...fromEnvFile };
  return JSON.stringify({ server, origins: [...origins], fromEnvFile: variables }, mark);
}

export function fromSettingsMessage(message: string): WorkerSettings {
  const { server, origins, fromEnvFile } = JSON.parse(message, (_key, value: unknown) => {
    const parts = (value as Record<string, unknown> | null)?.[SECRET];
    if (!Array.isArray(parts)) return value;
    const [source, name, directory] = parts as ['env' | 'file', string, string];
    return new SecretRef(source, name, directory);
  }) as {
    server: WorkerSettings['server'];
    origins: [string, 'flag' | 'env' | 'file' | 'default'][];
    fromEnvFile: WorkerSettings['fromEnvFile'];
  };
  return { server, origins: new Map(origins), fromEnvFile };
}
