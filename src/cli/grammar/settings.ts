import { reasonOf } from '../../core/errors.ts';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import { configHome, systemConfigHomes } from '../connection/config-home.ts';
import type { Layer, Setting } from './flags.ts';
import type { CliIo } from '../io.ts';
import { statSeen } from '../output/stat-seen.ts';

/** Settings file of a project; the nearest one upwards counts. */
export const PROJECT_SETTINGS = '.gatewayrc.yaml';
const SETTINGS = 'config.yaml';
/** Global flags that can be set in files; never where a key comes from, since projects are shared. */
const NAMES = ['server', 'context', 'output', 'timeout', 'no-color', 'quiet', 'debug'];

export interface SettingsFile {
  layer: Layer;
  path: string;
}

/**
 * Global flags in settings files, by name: project before user before system. Throws
 * `invalid_settings` (exit 3).
 */
export async function readSettings(
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<ReadonlyMap<string, Setting>> {
  const found = new Map<string, Setting>();
  for (const { layer, path } of settingsFiles(io)) {
    for (const [name, text] of await readFile(path)) {
      if (!found.has(name)) found.set(name, { text, layer, origin: path });
    }
  }
  return found;
}

/** The files there are, the strongest first. */
export function settingsFiles({ cwd, env }: Pick<CliIo, 'cwd' | 'env'>): SettingsFile[] {
  const project = projectFile(cwd);
  const user = configHome(env);
  const files: SettingsFile[] = [
    ...(project === undefined ? [] : [{ layer: 'project' as const, path: project }]),
    ...(user === undefined ? [] : [{ layer: 'user' as const, path: join(user, SETTINGS) }]),
    ...systemConfigHomes(env).map((home) => ({
      layer: 'system' as const,
      path: join(home, SETTINGS),
    })),
  ];
  return files.filter(({ path }) => statSeen(path)?.isFile());
}

function projectFile(cwd: string): string | undefined {
  for (let at = resolve(cwd); ; at = dirname(at)) {
    const path = join(at, PROJECT_SETTINGS);
    if (statSeen(path)?.isFile()) return path;
    if (dirname(at) === at) return undefined;
  }
}

async function readFile(path: string): Promise<Map<string, string>> {
  const { parse } = await import('yaml');
  const values = new Map<string, string>();
  const file = parseOr(() => parse(readFileSync(path, 'utf8')) as unknown, path) ?? {};
  if (typeof file !== 'object' || Array.isArray(file))
    throw invalid(path, 'expected names and values');
  for (const [member, value] of Object.entries(file)) {
    const name = member.replaceAll('_', '-');
    if (!NAMES.includes(name)) throw invalid(path, `${member} cannot be set in a file`, KNOWN);
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw invalid(path, `${member}: expected a text, a number, or true or false`);
    values.set(name, String(value));
  }
  return values;
}

const KNOWN = `known: ${NAMES.map((name) => name.replaceAll('-', '_')).join(', ')}`;

function parseOr(read: () => unknown, path: string): unknown {
  try {
    return read();
  } catch (cause) {
    const [first = ''] = reasonOf(cause).split('\n');
    throw invalid(path, first.replace(/:$/, ''));
  }
}

function invalid(path: string, message: string, hint?: string): CliError {
  return new CliError({
    code: 'invalid_settings',
    message: `${path}: ${message}`,
    hint,
    exit: 'invalid_config',
  });
}
