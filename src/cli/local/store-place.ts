import { resolve } from 'node:path';
import { loadConfig } from '../../config/read/load-config.ts';
import { formatDiagnostics } from '../../config/source/diagnostic.ts';
import type { StoreConfig } from '../../store/store-config.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CliIo } from '../io.ts';

/** A store as a command line names it. */
export interface StorePlace {
  readonly config: StoreConfig;
  /** Without its password. */
  readonly shown: string;
  /** Text of `server.store` for gateway.yaml; undefined where a file has it already. */
  readonly setting: string | undefined;
}

const FORMS =
  'name lmdb:PATH, fs:PATH, redis://HOST/?prefix=NAME:, postgres://HOST/DATABASE?schema=NAME, or a gateway.yaml whose store is meant';

/** Throws `usage` (exit 64) for what names no store, `invalid_config` (exit 3) for a file that is. */
export async function toStorePlace(
  text: string,
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<StorePlace> {
  const [, driver, path] = /^(lmdb|fs):(.+)$/s.exec(text) ?? [];
  if (driver !== undefined && path !== undefined) return folder(driver, resolve(io.cwd, path));
  if (/^rediss?:\/\//.test(text)) return database('redis', text, ['prefix', 'allow_volatile']);
  if (/^postgres(ql)?:\/\//.test(text)) return database('postgres', text, ['schema']);
  if (/\.(ya?ml|json)$/.test(text)) return configured(text, io);
  throw usageError(`${JSON.stringify(withoutPassword(text))} names no store`, FORMS);
}

function folder(driver: string, path: string): StorePlace {
  return {
    config: { driver, path },
    shown: `${driver}:${path}`,
    setting: `{ driver: ${driver}, path: ${JSON.stringify(path)} }`,
  };
}

/** Our own parameters are the store's options; the others are left to the driver. */
function database(driver: string, text: string, own: readonly string[]): StorePlace {
  const [base = '', ...rest] = text.split('?');
  const pairs = rest.join('?').split('&').filter(Boolean);
  const nameOf = (pair: string) => pair.split('=', 1)[0] ?? '';
  const others = pairs.filter((pair) => !own.includes(nameOf(pair)));
  const url = others.length > 0 ? `${base}?${others.join('&')}` : base;
  const given = new URLSearchParams(pairs.filter((pair) => own.includes(nameOf(pair))).join('&'));
  const options = Object.fromEntries(
    Array.from(given, ([name, value]) => [
      name,
      name === 'allow_volatile' ? value === 'true' : value,
    ]),
  );
  const hasPassword = withoutPassword(url) !== url;
  const settings = { url: hasPassword ? '${env:STORE_URL}' : url, ...options };
  const members = Object.entries(settings).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  );
  return {
    config: { driver, options: { url, ...options } },
    shown: withoutPassword(text),
    setting: `{ driver: ${driver}, options: { ${members.join(', ')} } }`,
  };
}

async function configured(
  path: string,
  { cwd, env }: Pick<CliIo, 'cwd' | 'env'>,
): Promise<StorePlace> {
  const { config, diagnostics } = await loadConfig({ paths: [path], cwd, env });
  if (config) return { config: config.server.store, shown: path, setting: undefined };
  throw new CliError({
    code: 'invalid_config',
    message: formatDiagnostics(diagnostics, 'text'),
    exit: 'invalid_config',
  });
}

function withoutPassword(url: string): string {
  return url.replace(/(:\/\/[^:@/?]*:)[^@/]*@/, '$1***@').replace(/([?&]password=)[^&]*/i, '$1***');
}
