import type { ServerConfig } from '../../config/schema/server-config.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import { reasonOf } from '../../core/errors.ts';
import type { Serving } from './serve-gateway.ts';
import { watchFiles } from './watch-files.ts';
import { onRenew } from './worker-channel.ts';

/**
 * Renews the certificate of a listener when its files change, on SIGHUP, and when the first process
 * says so. A bad pair is a line in the log, and the former one stays. Returns the function that stops it.
 */
export function renewCertificates(
  serving: Pick<Serving, 'renew'>,
  tls: ServerConfig['listen']['tls'],
  log: Log,
): () => void {
  if (!tls) return () => undefined;
  let running = Promise.resolve();
  const renew = async (former: Promise<void>): Promise<void> => {
    await former;
    try {
      if (await serving.renew()) log.info('certificate renewed', { file: tls.cert });
    } catch (error) {
      const reason = reasonOf(error);
      log.error('the certificate was not renewed; the former one serves on', { reason });
    }
  };
  const onChange = (): void => void (running = renew(running));
  const watching = tryToWatch([tls.cert, tls.key], onChange, log);
  process.on('SIGHUP', onChange);
  const stopHearing = onRenew(onChange);
  // The files may have changed between being read for the start and being watched.
  onChange();
  return () => {
    process.off('SIGHUP', onChange);
    stopHearing();
    watching?.close();
  };
}

/** Some file systems and limits allow no watching. */
function tryToWatch(
  files: readonly string[],
  onChange: () => void,
  log: Log,
): { close(): void } | undefined {
  try {
    return watchFiles(files, { cwd: '/', clock: systemClock, onChange });
  } catch (error) {
    const reason = reasonOf(error);
    log.warn('the files of the certificate cannot be watched; send SIGHUP after a change', {
      reason,
    });
    return undefined;
  }
}
