import { systemClock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ServerConfig } from '../config/server-config.ts';
import type { Gateway } from './open-gateway.ts';
import { serveGateway } from './serve-gateway.ts';

export interface ServeOptions {
  readonly log: Log;
  onListening?(url: string): Promise<void>;
  /** What ends the serving beside SIGTERM and SIGINT. */
  readonly until?: Promise<void>;
}

/** Serves until SIGTERM or SIGINT, then drains; a second SIGINT ends the process at once. */
export async function serveUntilStopped(
  gateway: Gateway,
  config: ServerConfig,
  { log, onListening, until }: ServeOptions,
): Promise<void> {
  const serving = await serveGateway(gateway, config, systemClock);
  try {
    await onListening?.(serving.url);
    await Promise.race([untilSignal(), ...(until ? [until] : [])]);
    log.info('stopping', { drain_ms: config.drainMs });
  } finally {
    await serving.stop();
    log.flush();
  }
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked && signal === 'SIGINT') process.exit(130);
      asked = true;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
