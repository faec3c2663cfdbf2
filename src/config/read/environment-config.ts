import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { PROVIDERS } from '../../providers/registry.ts';
import { renderInit } from './init-template.ts';
import type { ConfigFiles } from './load.ts';
import { findVendorKeys, readVariables, vendorVariables } from './vendor-keys.ts';
import type { VendorKeys } from './vendor-keys.ts';

const DOT_ENV = '.env';
const MAX_BYTES = 1024 * 1024;

type Variables = Readonly<Record<string, string | undefined>>;

/** A configuration without a file. */
export interface EnvironmentConfig extends VendorKeys {
  /** The text that `gateway init --template env` would write. */
  readonly text: string;
  /** The environment with what `.env` has of the variables that are looked for; its own win. */
  readonly env: Variables;
  /** Variables that were taken from `.env`. */
  readonly fromFile: readonly string[];
  readonly lookedFor: readonly string[];
}

/**
 * Declares the vendors whose keys are in the environment, or in `.env` in the folder, with all of
 * their models; without a key, only the mock.
 *
 * @param ownPort port of the gateway, to which no vendor may lead back
 */
export async function environmentConfig(
  { env, cwd, files }: { env: Variables; cwd: string; files: ConfigFiles },
  ownPort: number,
): Promise<EnvironmentConfig> {
  const definitions = [...PROVIDERS.values()];
  const written = await readDotEnv(join(cwd, DOT_ENV), files);
  const fromFile = readVariables(definitions).filter(
    (name) => (written[name] ?? '') !== '' && (env[name] ?? '') === '',
  );
  const joined = { ...env, ...Object.fromEntries(fromFile.map((name) => [name, written[name]])) };
  const keys = findVendorKeys(joined, definitions, ownPort);
  const rendered = await renderInit({ template: 'env', foundEnvKeys: keys.found });
  return {
    ...keys,
    text: rendered['gateway.yaml'] ?? '',
    env: joined,
    fromFile,
    lookedFor: vendorVariables(definitions),
  };
}

/** Lists the vendors found and left out, for people. */
export function describeEnvironment(config: EnvironmentConfig): string {
  const { found, leftOut, fromFile, lookedFor } = config;
  const lines = found.map(({ provider, variable, addressVariable }) => {
    const origin = fromFile.includes(variable) ? `${variable} in ${DOT_ENV}` : variable;
    const address = addressVariable === undefined ? '' : `, at ${addressVariable}`;
    return `  ${provider} with ${origin}${address}: every model as ${provider}/MODEL`;
  });
  const head =
    found.length === 0
      ? `there is no gateway.yaml, and no key of a vendor is set; looked for ${lookedFor.join(', ')}. The offline mock is served.`
      : 'there is no gateway.yaml; the vendors whose keys are set are served:';
  const omitted = leftOut.map(({ provider, because }) => `  ${provider} is left out: ${because}`);
  const next = '`gateway init --template env` writes this as a file.';
  return `${[head, ...lines, ...omitted, next].join('\n')}\n`;
}

async function readDotEnv(path: string, files: ConfigFiles): Promise<Variables> {
  try {
    return parseEnv((await files.read(path, MAX_BYTES)).toString('utf8'));
  } catch {
    return {};
  }
}
