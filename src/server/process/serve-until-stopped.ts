import { systemClock } from '../../core/time/clock.ts';
import { heldOpen } from '../../core/time/held-open.ts';
import type { Log } from '../../core/log.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { renewCertificates } from './renew-certificates.ts';
import { serveGateway } from './serve-gateway.ts';

export interface ServeOptions {
  readonly log: Log;
  onListening?(url: string): Promise<void>;
  /** Ends the serving, in addition to SIGTERM and SIGINT. */
  readonly until?: Promise<void>;
  /** A fault that ends the serving soon: calls under way get three seconds. */
  readonly crashed?: Promise<void>;
}

const CRASH_DRAIN_MS = 3_000;

/** Serves until SIGTERM or SIGINT, then drains; a second SIGINT ends the process at once. */
export async function serveUntilStopped(
  gateway: Gateway,
  config: ServerConfig,
  { log, onListening, until, crashed }: ServeOptions,
): Promise<void> {
  const serving = await serveGateway(gateway, config, systemClock);
  const stopRenewing = renewCertificates(serving, config.listen.tls, log);
  let drainMs: number | undefined;
  const untilCrashed = async (): Promise<void> => {
    await crashed;
    drainMs = Math.min(config.drainMs, CRASH_DRAIN_MS);
  };
  try {
    await onListening?.(serving.url);
    const ends = [...(until ? [until] : []), ...(crashed ? [untilCrashed()] : [])];
    await Promise.race([untilSignal(), ...ends]);
    log.info('stopping', { drain_ms: drainMs ?? config.drainMs });
  } finally {
    stopRenewing();
    await heldOpen(serving.stop(drainMs));
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
