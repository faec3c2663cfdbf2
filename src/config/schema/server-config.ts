import type { ValueBound } from '../../core/json/json-document.ts';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { OwnWebhook } from '../../resources/kinds/chat-webhooks.ts';
import { checkTree } from './check-tree.ts';
import type { JwtIssuer } from './jwt-schema.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { createPlaces, formatPath, type Path, type Places, valueAt } from '../source/locate.ts';
import { ObjectRef, SecretRef } from '../objects/references.ts';
import { serverSchema, type ServerSettings } from './server-schema.ts';

/** A scalar or list of the `server` section, and the variable that overrides it. */
export interface ServerSetting {
  /** `listen.port`. */
  readonly path: string;
  readonly env: string;
  readonly description: string;
  /** True where the variable holds a comma-separated text. */
  readonly isList: boolean;
}

export type SettingOrigin = 'flag' | 'env' | 'file' | 'default';

/** The `server` section as the process uses it: durations in milliseconds, sizes in bytes, paths absolute. */
export interface ServerConfig {
  /** `tls`: files of the certificate that HTTPS is served with; null: HTTP. */
  listen: { host: string; port: number; tls: { cert: string; key: string } | null };
  /** Address at which clients reach the gateway, without a slash at the end; null: as each request names it. */
  publicUrl: string | null;
  dataDir: string;
  store: { driver: string; path: string; options: Record<string, unknown> };
  limits: {
    rpm: number | null;
    bodyBytes: number;
    /** Null: a quarter of the heap limit. */
    bodyMemoryBytes: number | null;
    /** Most values of the bodies of inference calls, and of all others. */
    bodyValues: ValueBound;
    resourceValues: ValueBound;
    /** Most values of an answer that is parsed whole. */
    answerValues: number;
    headerBytes: number;
    urlBytes: number;
    requestTimeoutMs: number;
    interactionWaitMs: number;
    runRetentionMs: number;
    outputTokensBound: number;
    /** Calls under a spending limit may use routes without a known price. */
    unpriced: 'refuse' | 'allow';
    maxConnections: number;
  };
  /** Milliseconds since the end; null: for ever, of results their own time. */
  retention: ServerSettings['retention'];
  /** Milliseconds. */
  timeouts: { firstContent: number; idle: number; total: number };
  drainMs: number;
  drainDelayMs: number;
  drainIdleMs: number;
  ledger: 'auto' | 'before_call' | 'during_call';
  /** Null: `group` for calls with a spending limit, `process` for the others. */
  ledgerSync: 'process' | 'group' | 'call' | null;
  log: ServerSettings['log'];
  secrets: {
    masterKey: SecretRef | undefined;
    previousKeys: SecretRef[];
    masterKeyFile: string;
    /** Beginnings of commands that secrets may run. */
    exec: string[];
  };
  cors: { origins: string[] };
  allowedHosts: string[];
  metrics: { listen: { host: string; port: number } | null };
  /** `enabled` null: on a loopback address, and on an address of its own. */
  console: { enabled: boolean | null; listen: { host: string; port: number } | null };
  /** Single sign-on of people; null: there is none. */
  sso: SsoConfig | null;
  /** Addresses that callers may reach in addition to the public network. */
  outbound: { allow: string[] };
  /** Media that the gateway or a provider keeps for clients. */
  media: {
    /** Name of a provider; null: the gateway. */
    provider: string | null;
    store: { driver: string; path: string; options: Record<string, unknown> };
    maxBytes: number;
    fetchTimeoutMs: number;
    linkLifetimeMs: number;
    publicUrl: string | null;
  };
  /** Webhooks to which Schedules may announce their runs, in addition to known providers. */
  notifications: { webhooks: OwnWebhook[] };
  /** Targets of alerts: URLs, and mails by name. */
  alerts: {
    webhooks: string[];
    chats: string[];
    mails: Readonly<Record<string, MailSettings>>;
  };
  compat: { resourceXApiKey: boolean; modelLists: boolean };
  /** Programs that Agents may name, with their commands. */
  harnesses: Readonly<Record<string, HarnessProgram>>;
  /** Agents may bring commands of their own, too. */
  harnessesInline: boolean;
  mcpServers: Readonly<Record<string, OperatorProgram>>;
  /** Dimensions that use is summed by, and the ids of end users. */
  usage: { labels: string[]; tags: string[]; endUsers: ServerSettings['usage']['end_users'] };
  /** Issuers whose tokens count as keys. */
  jwt: { issuers: readonly JwtIssuer[] };
  workers: number;
}

type SsoSettings = NonNullable<ServerSettings['sso']>;

/** The OpenID provider that people sign in with; `lifetime` in milliseconds. */
export interface SsoConfig extends Omit<SsoSettings, 'client_secret'> {
  /** Resolved where the gateway starts. */
  client_secret?: SecretRef | undefined;
}

/** Mails of alerts; without a user there is no sign-in. */
export interface MailSettings {
  to: string[];
  from: string;
  smtp: {
    host: string;
    port?: number;
    tls: 'starttls' | 'implicit' | 'off';
    user?: string;
    /** Resolved where mails are sent from. */
    password?: SecretRef;
  };
}

export interface OperatorProgram {
  command: string;
  args: string[];
  /** Secret references are resolved where the program is started. */
  env: Record<string, string | SecretRef>;
}

export interface HarnessProgram extends OperatorProgram {
  protocol: 'acp' | 'jsonl';
  /** Milliseconds. */
  timeouts: { start: number; turn: number; stop: number };
}

export interface ServerInput {
  /** The `server` section as loaded, with the positions of its values. */
  file?: { root: unknown; places: Places };
  /** Folder against which relative paths resolve. */
  directory: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Values by the paths of their settings. */
  flags?: Readonly<Record<string, unknown>>;
  unknownFields?: 'error' | 'warn';
}

export interface ResolvedServer {
  config: ServerConfig | undefined;
  /** Origins by the paths of their settings; absent ones are defaults. */
  origins: ReadonlyMap<string, SettingOrigin>;
  diagnostics: Diagnostic[];
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  'listen.host': 'GATEWAY_HOST',
  'listen.port': 'GATEWAY_PORT',
  'secrets.master_key': 'GATEWAY_MASTER_KEY',
  'secrets.exec': 'GATEWAY_ALLOW_EXEC',
};
const SECRET_SETTINGS = ['secrets.master_key', 'secrets.previous_keys', 'sso.client_secret'];

/** Every setting of the `server` section that a `GATEWAY_*` variable or a flag can give. */
export function serverSettings(): ServerSetting[] {
  return leaves(serverSchema).map((leaf) => ({
    ...leaf,
    env: SHORT_NAMES[leaf.path] ?? `GATEWAY_${leaf.path.replaceAll('.', '_').toUpperCase()}`,
  }));
}

/**
 * Flags win over `GATEWAY_*` variables, those over the file, the file over the defaults
 * (requirement config.precedence). A bad value is a diagnostic that names its flag or variable.
 */
export function resolveServerConfig(input: ServerInput): ResolvedServer {
  const fromFile = input.file ?? { root: {}, places: createPlaces() };
  const origins = new Map<string, SettingOrigin>();
  const section = copyOf(valueAt(fromFile.root, ['server']) ?? {});
  const root = { server: section };
  const overlaid = new Map<string, string>();
  for (const setting of serverSettings()) {
    const { path, env } = setting;
    const steps = path.split('.');
    if (valueAt(section, steps) !== undefined) origins.set(path, 'file');
    const text = input.env[env];
    const flag = input.flags?.[path];
    if (flag === undefined && (text === undefined || text === '')) continue;
    const value = flag ?? fromText(setting, text ?? '');
    put(section as Record<string, unknown>, steps, value);
    origins.set(path, flag === undefined ? 'env' : 'flag');
    overlaid.set(formatPath(['server', ...steps]), flag === undefined ? env : `flag ${path}`);
  }
  const places = overlayPlaces(fromFile, overlaid);
  const { value, diagnostics } = checkTree(serverSchema, {
    root,
    at: ['server'],
    places,
    unknownFields: input.unknownFields ?? 'error',
  });
  return { config: value && toServerConfig(value, input.directory), origins, diagnostics };
}

/** Environment values count as text from outside of the file: only the schema gives them a type. */
function overlayPlaces(
  file: NonNullable<ServerInput['file']>,
  overlaid: ReadonlyMap<string, string>,
): Places {
  const sourceOf = (path: Path) =>
    [...overlaid].find(([setting]) => formatPath(path).startsWith(setting))?.[1];
  return {
    ...file.places,
    isInterpolated: (_root, path) =>
      sourceOf(path) !== undefined || file.places.isInterpolated(file.root, path),
    find(_root, path, part) {
      const source = sourceOf(path);
      if (source !== undefined) return { file: source, line: 1, column: 1 };
      return file.places.find(file.root, path, part);
    },
  };
}

function fromText({ path, env, isList }: Leaf & { env: string }, text: string): unknown {
  if (isList && !SECRET_SETTINGS.includes(path)) return text.split(',').map((part) => part.trim());
  if (!SECRET_SETTINGS.includes(path)) return text;
  const reference = new SecretRef('env', env, '');
  return isList ? [reference] : reference;
}

function put(section: Record<string, unknown>, steps: readonly string[], value: unknown): void {
  let container = section;
  for (const step of steps.slice(0, -1)) {
    const next = container[step];
    container[step] = typeof next === 'object' && next !== null ? next : {};
    container = container[step] as Record<string, unknown>;
  }
  container[steps.at(-1)!] = value;
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || value instanceof SecretRef) return value;
  if (value instanceof ObjectRef) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyOf(member)]));
}

interface Leaf {
  path: string;
  description: string;
  isList: boolean;
}

/** Reads the schema itself: to make a JSON schema of it takes longer than all else that loads a file. */
function leaves(schema: z.core.$ZodType, path: readonly string[] = [], told = ''): Leaf[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const description = z.globalRegistry.get(schema)?.description ?? told;
  if (def.type === 'pipe') return leaves(def.in, path, description);
  if ('innerType' in def) return leaves(def.innerType, path, description);
  if (def.type === 'object') {
    return Object.entries(def.shape).flatMap(([name, inner]) => leaves(inner, [...path, name]));
  }
  if (def.type === 'record' || isListOfObjects(def)) return [];
  return [{ path: path.join('.'), description, isList: def.type === 'array' }];
}

/** No text form exists for one. */
function isListOfObjects(def: z.core.$ZodTypes['_zod']['def']): boolean {
  return def.type === 'array' && (def.element as z.core.$ZodTypes)._zod.def.type === 'object';
}

/** Numbers are made faster than other values. */
const NUMBERS_PER_VALUE = 8;

function toServerConfig(settings: ServerSettings, directory: string): ServerConfig {
  const { limits, secrets, store, media } = settings;
  const dataDir = resolve(directory, settings.data_dir);
  return {
    listen: { ...settings.listen, tls: toPaths(settings.listen.tls, directory) },
    publicUrl: settings.public_url,
    dataDir,
    store: { ...store, path: resolve(directory, store.path ?? resolve(dataDir, 'store')) },
    limits: toLimits(limits),
    retention: settings.retention,
    timeouts: {
      firstContent: settings.timeouts.first_content,
      idle: settings.timeouts.idle,
      total: settings.timeouts.total,
    },
    drainMs: settings.drain,
    drainDelayMs: settings.drain_delay,
    drainIdleMs: settings.drain_idle,
    ledger: settings.ledger,
    ledgerSync: settings.ledger_sync,
    log: settings.log,
    secrets: {
      masterKey: secrets.master_key as SecretRef | undefined,
      previousKeys: secrets.previous_keys as unknown as SecretRef[],
      masterKeyFile: resolve(directory, secrets.master_key_file ?? resolve(dataDir, 'master.key')),
      exec: secrets.exec,
    },
    cors: settings.cors,
    allowedHosts: settings.allowed_hosts,
    metrics: settings.metrics,
    console: settings.console,
    sso: settings.sso as unknown as ServerConfig['sso'],
    outbound: settings.outbound,
    media: toMediaConfig(media, resolve(directory, media.path ?? resolve(dataDir, 'media'))),
    alerts: {
      ...settings.alerts,
      mails: settings.alerts.mails as unknown as ServerConfig['alerts']['mails'],
    },
    notifications: {
      webhooks: named(settings.notifications.webhooks),
    },
    compat: {
      resourceXApiKey: settings.compat.resource_x_api_key,
      modelLists: settings.compat.model_lists,
    },
    harnesses: settings.harnesses,
    harnessesInline: settings.harnesses_inline,
    mcpServers: settings.mcp_servers,
    jwt: { issuers: named(settings.jwt.issuers) },
    usage: {
      labels: settings.usage.labels,
      tags: settings.usage.tags,
      endUsers: settings.usage.end_users,
    },
    workers: settings.workers,
  };
}

function toPaths(
  tls: ServerSettings['listen']['tls'],
  directory: string,
): ServerConfig['listen']['tls'] {
  return tls && { cert: resolve(directory, tls.cert), key: resolve(directory, tls.key) };
}

function toLimits(limits: ServerSettings['limits']): ServerConfig['limits'] {
  return {
    rpm: limits.rpm,
    bodyBytes: limits.body,
    bodyMemoryBytes: limits.body_memory ?? null,
    answerValues: limits.answer_values,
    bodyValues: {
      most: limits.body_values,
      numbers: limits.body_values * NUMBERS_PER_VALUE,
      setting: 'server.limits.body_values',
    },
    // Each number may be at fault, and then costs as much as any other value.
    resourceValues: {
      most: limits.resource_values,
      numbers: limits.resource_values,
      setting: 'server.limits.resource_values',
    },
    headerBytes: limits.header_bytes,
    urlBytes: limits.url_bytes,
    requestTimeoutMs: limits.request_timeout,
    interactionWaitMs: limits.interaction_wait,
    runRetentionMs: limits.run_retention,
    outputTokensBound: limits.output_tokens_bound,
    unpriced: limits.unpriced,
    maxConnections: limits.max_connections,
  };
}

function toMediaConfig(media: ServerSettings['media'], path: string): ServerConfig['media'] {
  return {
    provider: media.provider,
    store: { driver: media.driver, path, options: media.options },
    maxBytes: media.max_size,
    fetchTimeoutMs: media.fetch_timeout,
    linkLifetimeMs: media.link_lifetime,
    publicUrl: media.public_url,
  };
}

/** Members of a mapping, each with its name. */
function named<T extends object>(members: Readonly<Record<string, T>>): ({ name: string } & T)[] {
  return Object.entries(members).map(([name, member]) => ({ name, ...member }));
}
