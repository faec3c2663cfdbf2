import { resolve } from 'node:path';
import { formatDiagnostics } from '../../config/source/diagnostic.ts';
import type { ServerPlace } from '../../store/backend.ts';
import { BACKENDS } from '../../store/backends/registry.ts';
import { addressForms } from '../../store/find-backend.ts';
import type { StoreConfig } from '../../store/store-config.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { loadFiles } from '../project/project.ts';

/** A store as a command line names it. */
export interface StorePlace {
  readonly config: StoreConfig;
  /** Address without its password. */
  readonly shown: string;
  /** Setting `server.store` for gateway.yaml; undefined where a file has it already. */
  readonly setting: string | undefined;
}

/** Throws `usage` (exit 64) for what names no store, `invalid_config` (exit 3) for a file that is. */
export async function toStorePlace(
  text: string,
  context: Pick<CommandContext, 'io' | 'globals' | 'output'>,
  backends = BACKENDS,
): Promise<StorePlace> {
  const [, scheme = '', rest = ''] = /^([a-z][\w+.-]*):(.+)$/s.exec(text) ?? [];
  for (const { place, drivers } of backends) {
    const [driver = ''] = drivers;
    if (place.kind === 'folder' && place.drivers[0] === scheme)
      return folder(scheme, resolve(context.io.cwd, rest));
    if (place.kind === 'server' && place.schemes.includes(scheme) && rest.startsWith('//'))
      return database(driver, text, place.parameters);
  }
  if (/\.(ya?ml|json)$/.test(text)) return configured(text, context);
  const forms = `name ${addressForms(backends).join(', ')}, or a gateway.yaml that configures the store`;
  throw usageError(`${JSON.stringify(withoutPassword(text))} is not a store`, forms);
}

function folder(driver: string, path: string): StorePlace {
  return {
    config: { driver, path },
    shown: `${driver}:${path}`,
    setting: `{ driver: ${driver}, path: ${JSON.stringify(path)} }`,
  };
}

/** Our own parameters are the store's options; the others are left to the driver. */
function database(driver: string, text: string, own: ServerPlace['parameters']): StorePlace {
  const [base = '', ...rest] = text.split('?');
  const pairs = rest.join('?').split('&').filter(Boolean);
  const isOwn = (pair: string) => Object.hasOwn(own, pair.split('=', 1)[0] ?? '');
  const others = pairs.filter((pair) => !isOwn(pair));
  const url = others.length > 0 ? `${base}?${others.join('&')}` : base;
  const given = new URLSearchParams(pairs.filter(isOwn).join('&'));
  const options = Object.fromEntries(
    Array.from(given, ([name, value]) => [name, own[name] === 'flag' ? value === 'true' : value]),
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
  context: Pick<CommandContext, 'io' | 'globals' | 'output'>,
): Promise<StorePlace> {
  const { config, diagnostics } = await loadFiles(context, { paths: [path] });
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
