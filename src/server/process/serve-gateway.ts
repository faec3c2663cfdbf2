import cluster from 'node:cluster';
import { mkdir } from 'node:fs/promises';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import { resolveSecret } from '../../config/objects/references.ts';
import type { SecretRef } from '../../config/objects/references.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { atPath } from '../../core/disk-fault.ts';
import type { Clock, Timer } from '../../core/time/clock.ts';
import { createIdSource } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import {
  nodeFileLimits,
  readFileLimit,
  usualConnections,
} from '../../upstream/places/file-limit.ts';
import { createProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import { assertNotEmptied } from './first-start.ts';
import { consoleAlone } from '../console/console-front.ts';
import { readCertificate } from '../http/certificate-files.ts';
import { listen } from '../http/listen.ts';
import type { Listener } from '../http/listen.ts';
import { openGateway } from '../compose/open-gateway.ts';
import type { GatewayOptions } from '../compose/gateway-options.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { resolveOutside } from '../compose/resolve-programs.ts';
import { openMasterKeys } from '../secrets/master-keys.ts';
import type { MasterKeys } from '../secrets/master-keys.ts';
import { openStore as openConfiguredStore } from '../../store/open-store.ts';

export interface ServeDeps extends Pick<GatewayOptions, 'openStore' | 'takesWork'> {
  clock: Clock;
  log: Log;
  sources: ReferenceSources;
}

/** Opens the gateway of a configuration; nothing listens yet. */
export async function openConfigured(
  { server, origins }: Pick<GatewayConfig, 'server' | 'origins'>,
  { clock, log, sources, openStore: open = openConfiguredStore, takesWork }: ServeDeps,
): Promise<Gateway> {
  await makeDataDirectory(server.dataDir);
  await assertNotEmptied(server);
  const resolve = (reference: SecretRef): Promise<string> => resolveSecret(reference, sources);
  const outside = await resolveOutside(server, resolve);
  const connections = usualConnections(await readFileLimit(nodeFileLimits));
  const store = await open(server.store, { clock });
  let master: MasterKeys;
  try {
    master = await openMasterKeys(store, { secrets: server.secrets, resolve });
  } catch (error) {
    await store.close();
    throw error;
  }
  if (master.warning !== undefined && cluster.isPrimary) log.warn(master.warning);
  return openGateway({
    config: server,
    firstContentSet: origins.has('timeouts.first_content'),
    ...outside,
    environment: sources.env,
    proxies: createProxyRules(sources.env),
    masterKeys: master.keys,
    clock,
    ids: createIdSource(clock),
    log,
    openStore: async () => store,
    takesWork,
    random: Math.random,
    connections,
  });
}

const makeDataDirectory = (path: string): Promise<unknown> =>
  atPath(path, () => mkdir(path, { recursive: true, mode: 0o700 }), {
    verb: 'use',
    purpose: 'as the data directory',
    setting: 'server.data_dir',
  });

export interface Serving {
  readonly url: string;
  /**
   * Drains, ends the remaining streams in-band, and settles everything. `drainMs` without a delay
   * replaces the configured times.
   */
  stop(drainMs?: number): Promise<void>;
  /**
   * Reads the files of the certificate again; gives true where it is another one now, which new
   * connections get. Rejects with `CertificateError`, and then the former one stays.
   */
  renew(): Promise<boolean>;
}

/** Milliseconds in which streams carry their last words to the client. */
const FAREWELL_MS = 1_000;

/** Listens; `stop` is requirement ops.shutdown.drain. */
export async function serveGateway(
  gateway: Gateway,
  config: ServerConfig,
  clock: Clock,
): Promise<Serving> {
  const { listen: address, limits, drainIdleMs } = config;
  const { app, entrance, ids, console: front } = gateway;
  const { listen: own } = config.console;
  let certificate = address.tls ? await readCertificate(address.tls) : undefined;
  const common = { limits, drainIdleMs, ids, entrance, certificate };
  // The first that a worker opens is the one that its gateway is known by.
  const listener = await listen(app, { ...address, ...common, ...(!own && { front }) });
  const listeners = [listener];
  if (own && front)
    listeners.push(await listen(app, { ...own, ...common, front: consoleAlone(front) }));
  let stopping: Promise<void> | undefined;
  return {
    url: listener.url,
    stop(drainMs) {
      const times = drainMs === undefined ? config : { drainMs, drainDelayMs: 0 };
      return (stopping ??= drainAndClose(gateway, { listener: together(listeners), times, clock }));
    },
    async renew() {
      if (!address.tls) return false;
      const next = await readCertificate(address.tls);
      if (next.cert === certificate?.cert && next.key === certificate.key) return false;
      certificate = next;
      for (const one of listeners) one.renew(next);
      return true;
    },
  };
}

type Draining = Omit<Listener, 'url' | 'renew'>;

function together(listeners: readonly Listener[]): Draining {
  return {
    retire: () => listeners.forEach((one) => one.retire()),
    drain: async () => void (await Promise.all(listeners.map((one) => one.drain()))),
    cut: () => listeners.forEach((one) => one.cut()),
  };
}

/** Work in the background gets what the requests have left of the time. */
async function drainAndClose(
  gateway: Gateway,
  {
    listener,
    times: { drainMs, drainDelayMs },
    clock,
  }: { listener: Draining; times: Pick<ServerConfig, 'drainMs' | 'drainDelayMs'>; clock: Clock },
): Promise<void> {
  gateway.condition.draining = true;
  gateway.endFollowing();
  if (drainDelayMs > 0) {
    listener.retire();
    await pause(drainDelayMs, clock);
  }
  const deadline = clock.monotonic() + drainMs;
  const drained = listener.drain();
  if (!(await within(drained, drainMs, clock))) {
    // Other processes continue it, so it must not take the end of its calls for a failure.
    gateway.leaveWork();
    gateway.endStreams();
    if (!(await within(drained, FAREWELL_MS, clock))) {
      listener.cut();
      // A call that is cut settles its records as its connection closes, and the store must still
      // be there.
      await within(drained, FAREWELL_MS, clock);
    }
  }
  await gateway.finishWork(Math.max(0, deadline - clock.monotonic()));
  await gateway.close();
}

function pause(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, ms));
}

async function within(done: Promise<void>, ms: number, clock: Clock): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = clock.setTimeout(() => resolve(false), ms);
  });
  const inTime = await Promise.race([done.then(() => true), late]);
  timer?.cancel();
  return inTime;
}
