import { PROVIDERS } from '../../providers/registry.ts';
import { type EnvFile, readEnvFile, type Variables } from './env-file.ts';
import { renderInit } from './init-template.ts';
import type { ConfigFiles } from './load.ts';
import { findVendorKeys, vendorVariables } from './vendor-keys.ts';
import type { VendorKeys } from './vendor-keys.ts';

/** Port of a gateway that nothing gives another one. */
const DEFAULT_PORT = 8787;

export interface EnvironmentConfigOptions {
  env: Variables;
  /** Folder of the `.env`. */
  cwd: string;
  files: ConfigFiles;
  /** True: a `.env` in the folder counts. */
  envFile: boolean;
  /** Port that the command line gives to the gateway; no vendor may lead back to it. */
  port?: number | undefined;
}

/** A configuration without a file. */
export interface EnvironmentConfig extends VendorKeys {
  /** The text that `gateway init --template env` would write. */
  readonly text: string;
  readonly envFile: EnvFile;
  readonly lookedFor: readonly string[];
}

/**
 * Declares the vendors whose keys are in the environment, or in `.env` in the folder, with all of
 * their models; without a key, only the mock.
 */
export async function environmentConfig(
  options: EnvironmentConfigOptions,
): Promise<EnvironmentConfig> {
  const definitions = [...PROVIDERS.values()];
  const envFile = await readEnvFile({ ...options, paths: ['-'] });
  const env = { ...options.env, ...envFile.values };
  const port = options.port ?? (Number(env['GATEWAY_PORT']) || DEFAULT_PORT);
  const keys = withoutMixed(findVendorKeys(env, definitions, port), envFile);
  const rendered = await renderInit({ template: 'env', foundEnvKeys: keys.found });
  return {
    ...keys,
    text: rendered['gateway.yaml'] ?? '',
    envFile,
    lookedFor: vendorVariables(definitions),
  };
}

/** Leaves out vendors whose key is the user's own and whose address is that of the folder. */
function withoutMixed({ found, leftOut }: VendorKeys, { values, shown }: EnvFile): VendorKeys {
  const isFromFile = (name: string) => Object.hasOwn(values, name);
  const isMixed = ({ variable, addressVariable }: VendorKeys['found'][number]) =>
    addressVariable !== undefined && isFromFile(addressVariable) && !isFromFile(variable);
  const mixed = found.filter(isMixed).map(({ provider, variable, addressVariable }) => ({
    provider,
    because: `${addressVariable} is from ${shown}, where ${variable} of the environment is not sent`,
  }));
  return { found: found.filter((one) => !isMixed(one)), leftOut: [...leftOut, ...mixed] };
}

/** Lists the vendors found and left out, for people. */
export function describeEnvironment({ found, leftOut, envFile }: EnvironmentConfig): string {
  const lines = found.map(({ provider, variable, addressVariable }) => {
    const isFromFile = Object.hasOwn(envFile.values, variable);
    const origin = isFromFile ? `${variable} in ${envFile.shown}` : variable;
    const address = addressVariable === undefined ? '' : `, at ${addressVariable}`;
    return `  ${provider} with ${origin}${address}: every model as ${provider}/MODEL`;
  });
  const omitted = leftOut.map(({ provider, because }) => `  ${provider} is left out: ${because}`);
  const text =
    found.length === 0
      ? [
          'there is no gateway.yaml and no key of a vendor: only the offline mock is served.',
          ...omitted,
          `  Set ${usualKeys()} or the key of another vendor,`,
          `  in the environment or in ${envFile.shown}, or write a file with \`gateway init\`.`,
        ]
      : [
          'there is no gateway.yaml; the vendors whose keys are set are served:',
          ...lines,
          ...omitted,
          '  `gateway init --template env` writes this as a file.',
        ];
  return `${text.join('\n')}\n`;
}

/** Keys of the vendors that have a variable for another address, too: the most used ones. */
function usualKeys(): string {
  const keys = [...PROVIDERS.values()].flatMap(({ envUrl, envKeys: [usual] = [] }) =>
    envUrl === undefined || usual === undefined ? [] : [usual],
  );
  return keys.join(', ');
}
